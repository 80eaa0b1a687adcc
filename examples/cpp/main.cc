// Asks a model about an image: omniphi_example MODEL IMAGE
#include <iostream>

#include <omniphi/omniphi.h>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: omniphi_example MODEL IMAGE\n";
    return 2;
  }
  try {
    omniphi::Model model(argv[1]);

    omniphi::Request request;
    request.media = {omniphi::Medium::image(argv[2])};
    request.text = "What is shown in this image?";
    omniphi::AnswerOptions options;
    options.max_tokens = 64;

    const omniphi::Answer answer = model.ask(request, options, [](std::string_view text) {
      std::cout << text << std::flush;
      return true;  // false would stop the answer
    });
    std::cout << "\n"
              << answer.usage.prompt_tokens << " prompt tokens, " << answer.usage.image_tokens
              << " of them for the image\n";
  } catch (const omniphi::Error& error) {
    std::cerr << error.what() << "\n";
    return omniphi::exit_code(error.kind());
  }
  return 0;
}
