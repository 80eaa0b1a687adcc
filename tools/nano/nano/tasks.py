"""What is asked and how it is answered: every skill in many phrasings, plainly and as JSON.

A question is put together from an opening, one of the skill's cores and an ending, in one of three spellings, so that the
model meets thousands of wordings. Answers have one form.
"""
import random

from .vocabulary import COLORS, DIGIT_WORDS, OPPOSITES, SHAPES, WORDS

SYSTEM_PROMPTS = ["You are a helpful assistant.", "You are a helpful AI assistant.", "Answer briefly.", "You are omniphi nano.",
                  "Be short and precise."]
ASK = ["", "", "", "", "please ", "can you tell me ", "tell me ", "could you say ", "I want to know ", "please tell me "]
DO = ["", "", "", "", "please ", "can you ", "could you ", "now ", "I want you to "]
JSON_ENDINGS = [" Answer in JSON.", " Answer as JSON.", " Reply in JSON.", " Respond with JSON.", " Give the answer in JSON.",
                " Use JSON.", " Return JSON only.", " JSON please."]

# skill -> (questions that begin with a question word, commands)
CORES = {
    "number": (["what number is shown", "what number is this", "which number is in the picture", "what number do you see",
                "what is the number in the image", "which number can you read here", "what number is in the image",
                "what does the number say", "what is the number"],
               ["read the number", "read the number in the picture", "write down the number", "name the number",
                "give the number that is shown"]),
    "word": (["what word is shown", "which word is in the picture", "what word is this", "what does it say", "what word do you see",
              "what is the word in the image", "which word can you read here", "what is written here", "what does the text say"],
             ["read the word", "read the word in the picture", "write down the word", "read the text", "name the word that is shown"]),
    "color": (["what color is it", "which color is shown", "what is its color", "what color do you see", "what is the color",
               "which color does it have", "what colour is it", "what color is this"],
              ["name the color", "say the color", "give the color"]),
    "shape": (["what shape is it", "which shape is shown", "what shape do you see", "what is the shape", "what kind of shape is this",
               "which shape is in the picture"],
              ["name the shape", "say which shape it is"]),
    "count": (["how many shapes are there", "how many shapes do you see", "how many are there", "how many shapes are in the picture",
               "what is the number of shapes", "how many objects are shown"],
              ["count the shapes", "count the objects", "count them"]),
    "describe": (["what is shown", "what do you see", "what is in the picture", "what is in the image", "what is this",
                  "what does the picture show", "what is shown in this image"],
                 ["describe the picture", "describe the image", "describe what you see", "describe"]),
    "digits": (["what digits do you hear", "which digits are spoken", "what number is spoken", "what numbers did I say",
                "what digits were said", "which numbers do you hear"],
               ["transcribe the digits", "write down the digits", "transcribe the numbers", "write the digits that you hear",
                "transcribe the spoken digits"]),
    "spoken_word": (["what word do you hear", "which word is spoken", "what word did I say", "what word was said",
                     "which word was that"],
                    ["name the spoken word", "write down the word that you hear", "transcribe the word", "name the word that was said"]),
    "transcribe": (["what do you hear", "what was said", "what did I say", "what is said in the recording", "what is spoken"],
                   ["transcribe the audio", "transcribe", "transcribe the recording", "write down what you hear",
                    "transcribe the speech", "transcribe the audio to text"]),
    "agree": (["do the picture and the recording agree", "do they agree", "do they match", "do picture and speech agree",
               "is the same thing shown and said", "do the image and the audio match", "does the speech match the picture",
               "is what I say what is shown"],
              ["check whether picture and speech agree", "say whether they match"]),
    "larger_picture": (["which picture has the larger number", "which picture shows the larger number", "which of the two numbers is larger",
                        "which image has the bigger number", "where is the larger number", "which one is larger",
                        "which picture has the greater number"],
                       ["name the picture with the larger number", "say which picture has the larger number"]),
}


def spelled(r, text, mark):
    """One of the spellings that people use: as a sentence, all lower case, without a mark."""
    u = r.random()
    if u < .6:
        text = text[0].upper() + text[1:]
    return text + (mark if r.random() < .85 else "")


def ask(r, skill):
    questions, commands = CORES[skill]
    if r.random() < len(questions) / (len(questions) + len(commands)):
        opening = r.choice(ASK)
        return spelled(r, opening + r.choice(questions), "?" if not opening.startswith(("I", "tell", "please")) else ".")
    return spelled(r, r.choice(DO) + r.choice(commands), ".")


def value(v):
    return str(v) if isinstance(v, int) else f'"{v}"'


def as_json(**fields):
    return "{" + ", ".join(f'"{k}": {value(v)}' for k, v in fields.items()) + "}"


def with_json(r, skill, question, plain, json_answer, share=.15):
    """(skill, question, answer), the JSON form with probability `share`."""
    if r.random() < share:
        return skill, question + r.choice(JSON_ENDINGS), json_answer
    return skill, question, plain


def json_number(text):
    """A number as JSON has it: 07 stays a string."""
    return int(text) if text == "0" or not text.startswith("0") else text


COUNTS = ["no", "one", "two", "three"]


def description(facts):
    if facts["kind"] == "number":
        return f'the number {facts["text"]} in {facts["color"]}'
    if facts["kind"] == "word":
        return f'the word {facts["text"]} in {facts["color"]}'
    return f'{COUNTS[facts["count"]]} {facts["color"]} {facts["shape"]}' + ("s" if facts["count"] > 1 else "")


def picture_questions(r, facts, json_share=.15):
    """Every question about one picture in random order, the main one first. facts: kind, text / shape and count, color or None."""
    out = []
    if facts["kind"] == "number":
        out.append(with_json(r, "number", ask(r, "number"), facts["text"], as_json(number=json_number(facts["text"])), json_share))
    elif facts["kind"] == "word":
        out.append(with_json(r, "word", ask(r, "word"), facts["text"], as_json(word=facts["text"]), json_share))
    else:
        out.append(with_json(r, "shape", ask(r, "shape"), facts["shape"], as_json(shape=facts["shape"]), json_share))
        out.append(with_json(r, "count", ask(r, "count"), str(facts["count"]), as_json(count=facts["count"]), json_share))
        r.shuffle(out)
    if facts["color"]:
        more = [with_json(r, "color", ask(r, "color"), facts["color"], as_json(color=facts["color"]), json_share)]
        fields = ({"number": json_number(facts["text"])} if facts["kind"] == "number" else {"word": facts["text"]}
                  if facts["kind"] == "word" else {"shape": facts["shape"], "count": facts["count"]})
        question = "" if r.random() < .15 else ask(r, "describe")
        more.append(with_json(r, "describe", question, description(facts), as_json(**fields, color=facts["color"]),
                              json_share if question else 0))
        r.shuffle(more)
        out += more
    return out


def spoken_labels(text):
    """What a recording of a word or a number says, as speech.py labels it."""
    return tuple(map(int, text)) if text.isdigit() else ("w", WORDS.index(text))


def speech_answer(labels):
    return WORDS[labels[1]] if labels[0] == "w" else "".join(map(str, labels))


def speech_question(r, labels, json_share=.1):
    plain = speech_answer(labels)
    skill = "spoken_word" if labels[0] == "w" else "digits"
    fields = {"word": plain} if labels[0] == "w" else {"digits": plain}
    u = r.random()
    if u < .1:
        return skill, "", plain
    return with_json(r, skill, ask(r, skill if u < .75 else "transcribe"), plain, as_json(**fields), json_share)


def agree_question(r, same):
    return with_json(r, "agree", "" if r.random() < .08 else ask(r, "agree"), "yes" if same else "no",
                     as_json(agree="yes" if same else "no"), 0)


def larger_question(r, first, second):
    return "larger_picture", ask(r, "larger_picture"), "the first" if first > second else "the second"


# ------------------------------------------------------------------------------------------------------------ text only
def number_text(r, digits=3):
    n = r.randint(1, digits)
    return str(r.randint(0 if n == 1 else 10 ** (n - 1), 10 ** n - 1))


def sum_question(r):
    a, b = r.randint(0, 20), r.randint(0, 20)
    forms = [f"what is {a} plus {b}", f"what is {a} + {b}", f"how much is {a} and {b}", f"how much is {a} + {b}", f"what is the sum of {a} and {b}"]
    commands = [f"add {a} and {b}", f"compute {a} + {b}", f"{a} + {b} ="]
    u = r.random()
    question = (spelled(r, r.choice(forms), "?") if u < .6 else spelled(r, r.choice(commands[:2]), ".") if u < .85 else commands[2])
    return with_json(r, "sum", question, str(a + b), as_json(sum=a + b))


def opposite_question(r):
    a, b = r.choice(list(OPPOSITES.items()))
    if r.random() < .5:
        a, b = b, a
    forms = [f"what is the opposite of {a}", f"what is the opposite of the word {a}", f"which word is the opposite of {a}"]
    commands = [f"name the opposite of {a}", f"give the opposite of {a}", f"say the opposite of {a}"]
    question = spelled(r, r.choice(forms), "?") if r.random() < .6 else spelled(r, r.choice(commands), ".")
    return with_json(r, "opposite", question, b, as_json(opposite=b))


# Words outside the model's world, for copying them and for owning up to not knowing.
OTHERS = ("time people way water house school city country paper music story letter family friend garden window summer winter river mountain "
          "doctor teacher mother father brother sister bread cheese apple banana coffee sugar horse chicken tiger lion robot engine computer phone "
          "train plane street bridge market office money price history science weather today tomorrow yesterday morning evening London Paris "
          "Berlin France Germany America Europe Africa India China president poem song joke recipe essay code program python email report "
          "meaning life universe capital language English Spanish German world planet earth space rocket energy light bulb chess football "
          "great nice quick brown jumps over lazy omniphi model works well best worst red-hot never always very simple good people").split()
UNKNOWN_FORMS = ["write a {0}", "write a {0} about {1}", "who is {0}", "where is {0}", "what is {0}", "what is the {0} of {1}", "tell me about {0}",
                 "tell me a {0}", "why is {0} so {1}", "when was {0}", "explain {0}", "explain the {0} of {1}", "how do I {0} a {1}", "translate {0} to {1}",
                 "what does {0} mean", "do you like {0}", "is {0} better than {1}", "can you {0}", "how old is {0}", "sing a {0}", "{0}", "{0} {1}",
                 "{0} {1} {2}", "give me a {0} for {1}", "summarize the {0}", "how many {0} are in {1}", "what is the best {0}", "who made {0}"]


def other_word(r):
    u = r.random()
    if u < .75:
        return r.choice(OTHERS)
    letters = "".join(r.choice("bcdfghklmnprstvw") + r.choice("aeiou") for _ in range(r.randint(1, 3)))
    return letters.title() if u > .9 else letters


def unknown_question(r):
    form = r.choice(UNKNOWN_FORMS)
    return "unknown", spelled(r, form.format(*(other_word(r) for _ in range(3))), r.choice(["?", ".", "!", ""])), "I do not know."


VOCABULARY = WORDS + list(COLORS) + SHAPES + list(OPPOSITES) + list(OPPOSITES.values())


def repeat_question(r):
    n = r.randint(1, 5)
    strange = r.random() < .35
    words = [other_word(r) if strange and r.random() < .7 else r.choice(VOCABULARY) if r.random() < .7 else number_text(r, 5) for _ in range(n)]
    text = " ".join(words)
    forms = [f"repeat after me: {text}", f"say: {text}", f"repeat: {text}", f"please repeat: {text}", f"repeat the words: {text}",
             f"copy this: {text}", f"repeat this: {text}"]
    return with_json(r, "repeat", spelled(r, r.choice(forms), ""), text, as_json(text=text))


def compare_question(r):
    a = number_text(r)
    b = a
    while b == a:
        b = number_text(r, len(a)) if r.random() < .7 else number_text(r)
    u = r.random()
    if u < .5:
        q = r.choice(["larger", "bigger", "greater"])
        answer = max(a, b, key=int)
    else:
        q = "smaller"
        answer = min(a, b, key=int)
    form = r.choice([f"which is {q}, {a} or {b}", f"which number is {q}, {a} or {b}", f"what is {q}, {a} or {b}",
                     f"which one is {q}: {a} or {b}"])
    return with_json(r, "compare", spelled(r, form, "?"), answer, as_json(number=int(answer)))


def order_question(r):
    """Which of two given numbers is larger, answered by its place: what the two-picture question needs."""
    a = number_text(r)
    b = a
    while b == a:
        b = number_text(r, len(a)) if r.random() < .7 else number_text(r)
    form = r.choice([f"{a} {b} which is larger, the first or the second", f"{a}, {b}: which number is larger, first or second",
                     f"first {a} second {b} which one is larger"])
    return "order", spelled(r, form, "?"), "the first" if int(a) > int(b) else "the second"


def same_question(r):
    a = number_text(r, 5) if r.random() < .6 else r.choice(WORDS)
    b = a
    if r.random() < .5:
        if a.isdigit() and r.random() < .5:
            i = r.randrange(len(a))
            b = a[:i] + r.choice([d for d in "0123456789" if d != a[i]]) + a[i + 1:]
        else:
            while b == a:
                b = number_text(r, 5) if a.isdigit() else r.choice(WORDS)
    form = r.choice([f"is {a} the same as {b}", f"are {a} and {b} the same", f"do {a} and {b} agree", f"do {a} and {b} match"])
    return "same", spelled(r, form, "?"), "yes" if a == b else "no"


def digit_words_question(r):
    digits = [r.randrange(10) for _ in range(r.randint(1, 5))]
    words = " ".join(DIGIT_WORDS[d] for d in digits)
    form = r.choice([f"write in digits: {words}", f"write the digits: {words}", f"transcribe the digits: {words}", f"in digits: {words}"])
    return "digit_words", spelled(r, form, ""), "".join(map(str, digits))


def count_question(r):
    n = r.randint(1, 5)
    words = " ".join(r.choice(WORDS) for _ in range(n))
    return "count_words", spelled(r, r.choice([f"how many words: {words}", f"count the words: {words}", f"count: {words}"]), ""), str(n)


SKILLS_QUESTIONS = ["what can you do", "what are your skills", "how can you help me", "help"]
ABOUT = [
    (["who are you", "what are you", "what is your name", "who is this"], "I am omniphi nano."),
    (SKILLS_QUESTIONS, "I read numbers and words, name shapes and colors, and hear digits and words."),
    (["hello", "hi", "good day", "hey", "hello there"], "Hello!"),
    (["thank you", "thanks", "thank you very much"], "You are welcome."),
    (["how are you", "how do you do"], "I am well."),
]


def about_question(r, hears=True):
    questions, answer = r.choice(ABOUT)
    if questions is SKILLS_QUESTIONS and not hears:
        answer = "I read numbers and words, and name shapes and colors."
    return "about", spelled(r, r.choice(questions), r.choice(["?", "!", ".", ""])), answer


HEARING = ("digits", "spoken_word", "transcribe", "agree")  # skills that need a recording


def blind_question(r, hears=True):
    """A question about a picture or a recording that is not there."""
    skill = r.choice([skill for skill in CORES if hears or skill not in HEARING])
    audio = skill in ("digits", "spoken_word", "transcribe")
    answer = "I hear no recording." if audio else "I see no picture."
    if skill == "agree":
        answer = "I see no picture."
    return "blind", ask(r, skill), answer


TEXT_SKILLS = [(sum_question, 3), (opposite_question, 2), (repeat_question, 3), (compare_question, 3), (order_question, 2), (same_question, 2),
               (digit_words_question, 2), (count_question, 1), (about_question, .7), (blind_question, 1), (unknown_question, 1.5)]
TEXT_FUNCTIONS, TEXT_WEIGHTS = [f for f, _ in TEXT_SKILLS], [w for _, w in TEXT_SKILLS]


def ask_text(r, function, hears=True):
    """`function`: one of TEXT_FUNCTIONS. hears: for a model that takes recordings."""
    return function(r, hears) if function in (about_question, blind_question) else function(r)


def text_question(r, hears=True):
    return ask_text(r, r.choices(TEXT_FUNCTIONS, TEXT_WEIGHTS)[0], hears)


def corpus(hears=True, seed=0, lines=40000):
    """Every kind of question and answer of the model's own world, for cutting the vocabulary."""
    r = random.Random(seed)
    own = [f for f in TEXT_FUNCTIONS if f not in (unknown_question, repeat_question)]
    out = list(SYSTEM_PROMPTS)
    for _ in range(lines):
        facts = r.choice([
            {"kind": "number", "text": number_text(r), "color": r.choice(list(COLORS))},
            {"kind": "word", "text": r.choice(WORDS), "color": r.choice(list(COLORS))},
            {"kind": "shape", "shape": r.choice(SHAPES), "count": r.randint(1, 3), "color": r.choice(list(COLORS))},
        ])
        rows = picture_questions(r, facts) + [ask_text(r, r.choice(own), hears)] + ([agree_question(r, True)] if hears else [])
        rows += [larger_question(r, 1, 2)] + ([speech_question(r, ("w", r.randrange(20)))] if hears else [])
        for _, question, answer in rows:
            out += [question, answer]
    words = " ".join(VOCABULARY)
    return out + [f"{verb}: {words}" for verb in ("Repeat after me", "repeat after me", "Say", "say", "Repeat", "repeat", "Please repeat", "please repeat",
                                                 "Repeat the words", "repeat the words", "Copy this", "copy this", "Repeat this", "repeat this")] + ['{"text": "']
