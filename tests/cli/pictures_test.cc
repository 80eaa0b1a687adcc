// Pictures on the terminal: what is chosen, what is drawn, and what the program does on a terminal of each kind.
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sixel.h>
#include <termios.h>
#include <unistd.h>

#include "cli/terminal/picture.h"
#include "media/image_decode.h"
#include "request/base64.h"
#include "testing/program.h"

namespace omniphi {
namespace {

using cli::PictureProtocol;
using cli::TerminalFacts;
using testing::expect_failure;
using testing::golden_root;
using testing::run_tiny;

// A terminal without anything special.
TerminalFacts plain(bool sixel = false) {
  TerminalFacts facts;
  facts.is_terminal = true;
  facts.term = "xterm-256color";
  facts.answers_to_sixel = [sixel] { return sixel; };
  return facts;
}

template <typename Change>
PictureProtocol chosen(const Change& change, bool sixel = false) {
  TerminalFacts facts = plain(sixel);
  change(facts);
  return cli::choose_protocol(facts);
}

TEST(PictureProtocol, TheBestThatTheTerminalTakes) {
  const auto nothing = [](TerminalFacts&) {};
  EXPECT_EQ(chosen(nothing), PictureProtocol::kBlocks256);
  EXPECT_EQ(chosen(nothing, true), PictureProtocol::kSixel);
  for (const char* color : {"truecolor", "24bit"}) {
    EXPECT_EQ(chosen([&](TerminalFacts& facts) { facts.color_term = color; }), PictureProtocol::kBlocks);
  }
  for (const char* term : {"xterm-kitty", "xterm-ghostty"}) {
    EXPECT_EQ(chosen([&](TerminalFacts& facts) { facts.term = term; }), PictureProtocol::kKitty) << term;
  }
  for (const char* program : {"WezTerm", "ghostty"}) {
    EXPECT_EQ(chosen([&](TerminalFacts& facts) { facts.term_program = program; }, true), PictureProtocol::kKitty);
  }
  EXPECT_EQ(chosen([](TerminalFacts& facts) { facts.kitty_window = true; }), PictureProtocol::kKitty);
}

TEST(PictureProtocol, AMultiplexerIsAskedItself) {
  const auto inside = [](TerminalFacts& facts) { facts.kitty_window = facts.multiplexer = true; };
  EXPECT_EQ(chosen(inside), PictureProtocol::kBlocks256);
  EXPECT_EQ(chosen(inside, true), PictureProtocol::kSixel);
  const auto by_name = [](TerminalFacts& facts) {
    facts.kitty_window = true;
    facts.term = "tmux-256color";
  };
  EXPECT_EQ(chosen(by_name), PictureProtocol::kBlocks256);
}

TEST(PictureProtocol, NothingWhereColourIsUnwantedAndNobodyIsAsked) {
  const auto quiet = [](const auto& change) {
    return chosen([&](TerminalFacts& facts) {
      facts.answers_to_sixel = []() -> bool { throw std::runtime_error("asked"); };
      facts.kitty_window = true;
      change(facts);
    });
  };
  EXPECT_EQ(quiet([](TerminalFacts& facts) { facts.is_terminal = false; }), PictureProtocol::kNone);
  EXPECT_EQ(quiet([](TerminalFacts& facts) { facts.no_color = true; }), PictureProtocol::kNone);
  EXPECT_EQ(quiet([](TerminalFacts& facts) { facts.term = "dumb"; }), PictureProtocol::kNone);
  EXPECT_EQ(quiet([](TerminalFacts& facts) { facts.term = ""; }), PictureProtocol::kNone);
}

TEST(PictureProtocol, AFlagIsFollowedWhateverTheTerminal) {
  const TerminalFacts file;  // no terminal at all
  EXPECT_EQ(cli::protocol_of_flag("auto", file), PictureProtocol::kNone);
  EXPECT_EQ(cli::protocol_of_flag("none", plain(true)), PictureProtocol::kNone);
  EXPECT_EQ(cli::protocol_of_flag("auto", plain(true)), PictureProtocol::kSixel);
  EXPECT_EQ(cli::protocol_of_flag("kitty", file), PictureProtocol::kKitty);
  EXPECT_EQ(cli::protocol_of_flag("sixel", file), PictureProtocol::kSixel);
  EXPECT_EQ(cli::protocol_of_flag("blocks", file), PictureProtocol::kBlocks256);
  EXPECT_THROW(cli::protocol_of_flag("ascii", file), Error);
}

TEST(PictureProtocol, AttributesOfTerminals) {
  EXPECT_TRUE(cli::attributes_name_sixel("\x1b[?62;4;6;22c"));
  EXPECT_TRUE(cli::attributes_name_sixel("\x1b[?64;1;4c"));
  EXPECT_FALSE(cli::attributes_name_sixel("\x1b[?62;1;6;22c"));
  EXPECT_FALSE(cli::attributes_name_sixel("\x1b[?4;6c"));  // VT132: the class, not the attribute
  EXPECT_FALSE(cli::attributes_name_sixel("\x1b[?62;14;44c"));
  EXPECT_FALSE(cli::attributes_name_sixel("\x1b[?62;4"));  // the rest did not come
  EXPECT_FALSE(cli::attributes_name_sixel(""));
}

TEST(Picture, FitsItsRoomAndKeepsItsShape) {
  const auto fitted = [](int width, int height) {
    const cli::PixelSize size = cli::fit_picture(Image(width, height), {40, 20});
    return std::pair(size.width, size.height);
  };
  EXPECT_EQ(fitted(400, 200), std::pair(40, 20));
  EXPECT_EQ(fitted(400, 400), std::pair(20, 20));
  EXPECT_EQ(fitted(800, 100), std::pair(40, 5));
  EXPECT_EQ(fitted(10, 5), std::pair(10, 5));  // never enlarged
  EXPECT_EQ(fitted(10000, 1), std::pair(40, 1));
}

TEST(Picture, NearestColours) {
  const auto nearest = [](uint8_t red, uint8_t green, uint8_t blue) {
    const uint8_t rgb[] = {red, green, blue};
    return cli::nearest_xterm_color(rgb);
  };
  EXPECT_EQ(nearest(0, 0, 0), 16);
  EXPECT_EQ(nearest(255, 255, 255), 231);
  EXPECT_EQ(nearest(255, 0, 0), 196);
  EXPECT_EQ(nearest(95, 135, 175), 67);
  EXPECT_EQ(nearest(128, 128, 128), 244);
  EXPECT_EQ(nearest(8, 8, 8), 232);
  EXPECT_EQ(nearest(238, 238, 238), 255);
}

// Red, green and blue in a column.
Image three_rows() {
  Image image(1, 3);
  image.rgb = {255, 0, 0, 0, 255, 0, 0, 0, 255};
  return image;
}

TEST(Picture, BlocksAreTwoPixelsEach) {
  EXPECT_EQ(cli::encode_blocks(three_rows(), PictureProtocol::kBlocks),
            "\x1b[38;2;255;0;0;48;2;0;255;0m\u2580\x1b[0m\n"
            "\x1b[38;2;0;0;255;49m\u2580\x1b[0m\n");
  EXPECT_EQ(cli::encode_blocks(three_rows(), PictureProtocol::kBlocks256),
            "\x1b[38;5;196;48;5;46m\u2580\x1b[0m\n"
            "\x1b[38;5;21;49m\u2580\x1b[0m\n");
  Image even(3, 2);  // colours are said once
  EXPECT_EQ(cli::encode_blocks(even, PictureProtocol::kBlocks),
            "\x1b[38;2;0;0;0;48;2;0;0;0m\u2580\u2580\u2580\x1b[0m\n");
}

// Something with many colours.
Image gradient(int width, int height) {
  Image image(width, height);
  uint32_t state = 1;
  for (uint8_t& value : image.rgb) value = static_cast<uint8_t>((state = state * 1664525u + 1013904223u) >> 24);
  return image;
}

TEST(Picture, KittyCarriesThePictureInChunks) {
  for (const auto& [width, height] : {std::pair(1, 3), std::pair(90, 70)}) {
    const Image image = gradient(width, height);
    const std::string text = cli::encode_kitty(image);
    ASSERT_EQ(text.back(), '\n');
    std::string data;
    size_t at = 0;
    bool more = true;
    for (int chunk = 0; at + 1 < text.size(); ++chunk) {
      EXPECT_TRUE(more);
      const std::string begin = chunk == 0 ? "\x1b_Ga=T,f=100,q=2,m=" : "\x1b_Gm=";
      ASSERT_EQ(text.substr(at, begin.size()), begin);
      at += begin.size();
      more = text[at] == '1';
      ASSERT_EQ(text[at + 1], ';');
      const size_t end = text.find("\x1b\\", at);
      ASSERT_NE(end, std::string::npos);
      EXPECT_LE(end - at - 2, 4096u);
      data += text.substr(at + 2, end - at - 2);
      at = end + 2;
    }
    EXPECT_FALSE(more);
    const Image shown = decode_image(decode_base64(data).value(), "kitty");
    EXPECT_EQ(shown.width, width);
    EXPECT_EQ(shown.rgb, image.rgb);
  }
}

TEST(Picture, SixelShowsThePicture) {
  Image image(24, 18);  // four fields of a colour each
  const uint8_t colors[4][3] = {{255, 255, 255}, {204, 0, 0}, {0, 102, 51}, {0, 0, 0}};
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      std::copy_n(colors[2 * (y / 9) + x / 12], 3, image.row(y) + 3 * x);
    }
  }
  std::string text = cli::encode_sixel(image);
  EXPECT_EQ(text.substr(0, 2), "\x1bP");
  EXPECT_EQ(text.substr(text.size() - 3), "\x1b\\\n");
  unsigned char *pixels = nullptr, *palette = nullptr;
  int width = 0, height = 0, count = 0;
  ASSERT_EQ(sixel_decode_raw(reinterpret_cast<unsigned char*>(text.data()), static_cast<int>(text.size()), &pixels,
                             &width, &height, &palette, &count, nullptr),
            SIXEL_OK);
  EXPECT_EQ(width, 24);
  ASSERT_EQ(height, 18);
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (int c = 0; c < 3; ++c) {
        // The palette is found among 32 levels a channel and said in percent.
        EXPECT_NEAR(palette[3 * pixels[y * width + x] + c], image.row(y)[3 * x + c], 8) << x << " " << y;
      }
    }
  }
  std::free(pixels);
  std::free(palette);
}

TEST(Picture, DrawingShrinksToTheTerminal) {
  const Image image = gradient(300, 300);
  const auto lines = [&](int columns, int rows) {
    cli::TerminalSize size;
    size.columns = columns;
    size.rows = rows;
    const std::string text = cli::draw_picture(image, PictureProtocol::kBlocks, size);
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(lines(80, 50), 20);
  EXPECT_EQ(lines(21, 50), 10);
  EXPECT_EQ(lines(80, 10), 8);
  EXPECT_EQ(cli::draw_picture(image, PictureProtocol::kNone, {}), "");
}

// Runs the program on a terminal of its own and answers when it asks what the terminal is.
struct TerminalRun {
  std::string out;
  bool asked = false;
  bool modes_restored = false;
};

TerminalRun run_on_terminal(const std::vector<std::pair<const char*, const char*>>& environment,
                            const std::string& answer, const std::vector<std::string>& more = {}) {
  TerminalRun result;
  int terminal = -1;
  winsize size{50, 100, 800, 800};
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    for (const char* name : {"NO_COLOR", "COLORTERM", "TERM_PROGRAM", "KITTY_WINDOW_ID", "TMUX", "STY"}) unsetenv(name);
    for (const auto& [name, value] : environment) setenv(name, value, 1);
    const std::string model = testing::tiny_checkpoint(), image = golden_root() + "/media/tiny100x60.png";
    std::vector<std::string> arguments = {OMNIPHI_BINARY, "run", "--model",      model, "--image",
                                          image,          "q",   "--max-tokens", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    ::execv(OMNIPHI_BINARY, argv.data());
    ::_exit(127);
  }
  termios before{};
  EXPECT_EQ(::tcgetattr(terminal, &before), 0);
  char chunk[4096];
  // The other end hangs up, which reading reports as an error, when the program ends.
  for (ssize_t count; (count = ::read(terminal, chunk, sizeof chunk)) > 0;) {
    result.out.append(chunk, static_cast<size_t>(count));
    if (!result.asked && result.out.find("\x1b[c") != std::string::npos) {
      result.asked = true;
      // The program may have stopped waiting; what it does then shows in the output.
      if (::write(terminal, answer.data(), answer.size()) < 0) continue;
    }
  }
  termios after{};
  if (::tcgetattr(terminal, &after) == 0) {
    result.modes_restored = before.c_lflag == after.c_lflag && before.c_cc[VMIN] == after.c_cc[VMIN];
  }
  ::close(terminal);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << result.out;
  return result;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(PicturesOfRun, ATerminalThatNamesSixelGetsSixels) {
  TerminalRun run;
  // The program waits 100 ms for the answer: on a busy machine this test may come too late once, not every time.
  for (int attempt = 0; attempt < 10 && !contains(run.out, "\x1bP"); ++attempt) {
    run = run_on_terminal({{"TERM", "xterm"}}, "\x1b[?62;4;22c");
  }
  EXPECT_TRUE(run.asked);
  EXPECT_TRUE(run.modes_restored);
  EXPECT_TRUE(contains(run.out, "\x1bP")) << run.out;
  EXPECT_FALSE(contains(run.out, "?62;4")) << "the answer was echoed";
}

TEST(PicturesOfRun, OneThatSaysNothingGetsBlocks) {
  const TerminalRun run = run_on_terminal({{"TERM", "xterm"}, {"COLORTERM", "truecolor"}}, "");
  EXPECT_TRUE(run.asked);
  EXPECT_TRUE(run.modes_restored);
  EXPECT_TRUE(contains(run.out, "\x1b[38;2;")) << run.out;
}

TEST(PicturesOfRun, KittyIsNotAsked) {
  const TerminalRun run = run_on_terminal({{"TERM", "xterm-kitty"}}, "");
  EXPECT_FALSE(run.asked);
  EXPECT_TRUE(contains(run.out, "\x1b_Ga=T")) << run.out;
}

TEST(PicturesOfRun, NothingWhereItIsUnwanted) {
  const std::pair<const char*, const char*> xterm{"TERM", "xterm"};
  for (const TerminalRun& run :
       {run_on_terminal({xterm, {"NO_COLOR", "1"}}, ""), run_on_terminal({{"TERM", "dumb"}}, ""),
        run_on_terminal({xterm}, "", {"--pictures", "none"}), run_on_terminal({xterm}, "", {"--json"})}) {
    EXPECT_FALSE(run.asked);
    EXPECT_FALSE(contains(run.out, "\x1bP") || contains(run.out, "\u2580")) << run.out;
  }
}

TEST(PicturesOfRun, AFileGetsThemOnlyWhenAProtocolIsNamed) {
  const std::vector<std::string> ask = {"--image", golden_root() + "/media/tiny100x60.png", "q", "--max-tokens", "1"};
  const auto with = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = ask;
    all.insert(all.end(), more.begin(), more.end());
    return run_tiny("run", all);
  };
  const std::string answer = with({}).out;
  EXPECT_FALSE(contains(answer, "\x1b"));
  EXPECT_EQ(with({"--pictures", "auto"}).out, answer);
  const std::string drawn = with({"--pictures", "blocks"}).out;
  EXPECT_TRUE(drawn.ends_with("\x1b[0m\n" + answer)) << drawn;  // above the answer
  EXPECT_EQ(std::count(drawn.begin(), drawn.end(), '\n'), 13);  // 40x24 pixels
  expect_failure(with({"--pictures", "ascii"}), 2, {"--pictures", "ascii"});
  expect_failure(with({"--pictures", "sixel", "--json"}), 2, {"--pictures", "--json"});
}

}  // namespace
}  // namespace omniphi
