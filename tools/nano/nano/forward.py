"""From a batch to logits: media features, the sequence with its positions, exact match of answers."""
import torch


def picture_features(model, picture):
    """Patch features [B * V, 4 * K, D]."""
    x = picture["patches"].float() * model.vision.scale + model.vision.shift
    weights = picture["patch_weights"]
    mask = weights[:, None, None] if weights.any() else None
    return model.vision(x, picture["patch_positions"], mask)


def speech_features(model, audio, mel):
    """Conformer output [B, T, A]."""
    with torch.no_grad():
        features = mel(audio["samples"])
    return model.audio(features)


def picture_embeddings(model, features, picture):
    """Patch features of all crops -> embeddings [B, tokens, H] in the order of `picture["order"]`."""
    V, (local_rows, view_rows) = picture["crops"], picture["rows"]
    if V == 1:
        return model.eyes(features, features, local_rows, view_rows)
    f = features.reshape(-1, V, *features.shape[1:])
    return model.eyes(f[:, :-1].flatten(1, 2), f[:, -1], local_rows, view_rows)


def media_of(model, batch, adapter, mel=None, features=None):
    """[(embeddings [B, n, H], places or None, log weights or None, length)] of a batch's media in the order of its prompt, and the
    features of both towers by name."""
    features = dict(features or {})
    media = []
    if "picture" in batch:
        picture = batch["picture"]
        if "picture" not in features:
            features["picture"] = picture_features(model, picture)
        embeddings = picture_embeddings(model, features["picture"], picture)
        n = batch.get("pictures", 1)
        media += [(embeddings[i::n], picture["order"][i::n], picture["token_weights"][i::n], picture["length"]) for i in range(n)]
    if "audio" in batch:
        if "audio" not in features:
            features["audio"] = speech_features(model, batch["audio"], mel)
        embeddings = model.ears[adapter](features["audio"])
        media.insert(0 if batch.get("audio_first") else len(media), (embeddings, None, None, embeddings.shape[1]))
    return media, features


def sequence(model, batch, media):
    """Embeddings, positions and log weights [B, T(, H)] of prefix, media and text; and the first index of the text."""
    embed, ids, prefix = model.decoder.embed, batch["ids"], batch["prefix"]
    B, L = ids.shape
    parts, positions, weights = [], [], []

    def add(embeddings, order, log_weights, at):
        n = embeddings.shape[1]
        parts.append(embeddings.float())
        positions.append(at + (torch.arange(n).expand(B, -1) if order is None else order))
        weights.append(torch.zeros(B, n) if log_weights is None else log_weights)

    add(embed[prefix].expand(B, -1, -1), None, None, 0)
    at = len(prefix)
    for i, (embeddings, order, log_weights, length) in enumerate(media):
        if i and len(batch["between"]):
            add(embed[batch["between"]].expand(B, -1, -1), None, None, at)
            at += len(batch["between"])
        add(embeddings, order, log_weights, at)
        at += length
    first = sum(p.shape[1] for p in parts)
    add(embed[ids], None, None, at)
    return torch.cat(parts, 1), torch.cat(positions, 1), torch.cat(weights, 1), first


def answer_logits(model, batch, adapter, media=()):
    """(logits at the places with a wanted id, those ids, their flat index in batch["wanted"])."""
    x, positions, weights, first = sequence(model, batch, media)
    wanted = batch["wanted"]
    B, L = wanted.shape
    flat = (wanted != -100).flatten().nonzero().squeeze(1)
    take = (flat // L) * x.shape[1] + first + flat % L
    return model.decoder(x, positions, weights, adapter, take), wanted.flatten()[flat], flat


def exact_answers(model, batch, adapter, media=()):
    """Per row, whether every wanted id has the largest logit (what greedy decoding needs to give the same answer)."""
    logits, wanted, flat = answer_logits(model, batch, adapter, media)
    good = torch.ones(len(batch["ids"]), dtype=torch.bool)
    rows = flat // batch["wanted"].shape[1]
    good[rows[logits.argmax(-1) != wanted]] = False
    return good.tolist()
