// Phi-3-vision's images stage by stage against the goldens: pixels, tower, merge and separators, projector.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/cpu.h"
#include "base/thread_pool.h"
#include "base/workspace.h"
#include "kernels/kernels.h"
#include "media/image_decode.h"
#include "models/phi3v/bind.h"
#include "testing/phi3v_golden.h"
#include "testing/trace.h"

namespace omniphi::phi3v {
namespace {

using nlohmann::json;
using testing::CollectingTrace;
using testing::compare_phi3v;
using testing::phi3v_path;
using testing::phi3v_root;
using testing::phi3v_tensor;
using testing::read_test_file;
using testing::read_test_json;

struct Run {
  Isa isa;
  std::string name;
};

void PrintTo(const Run& run, std::ostream* out) { *out << isa_name(run.isa) << " " << run.name; }

const Checkpoint& tiny_checkpoint() {
  static const Checkpoint kCheckpoint =
      Checkpoint::open(phi3v_root() + "/model", OpenOptions{TokenizerCheck::kIfPresent});
  return kCheckpoint;
}

class Phi3vTower : public ::testing::TestWithParam<Run> {};

TEST_P(Phi3vTower, IsTheReferences) {
  const json golden = testing::phi3v_case(GetParam().name);
  const auto stored = testing::read_test_safetensors(phi3v_root() + "/cases/" + GetParam().name + ".safetensors");
  const ImageEmbed embed = bind_image_embed(tiny_checkpoint());
  ThreadPool pool(2);
  Workspace workspace;
  const KernelContext ctx{&kernel_table(GetParam().isa), &pool, &workspace};
  CollectingTrace trace;
  std::vector<float> pixels;
  for (const json& image : golden.at("images")) {
    const std::string file = image;
    const std::string path = phi3v_path("media/" + file);
    if (path.empty()) GTEST_SKIP() << file << " needs ../shared";
    ImageOptions options;
    options.reference_media = true;
    const Image decoded = decode_image(read_test_file(path), path, options);
    const ImageInput input = process_image(decoded, golden.at("num_crops"), file);
    pixels.insert(pixels.end(), input.pixel_values.data.begin(), input.pixel_values.data.end());
    const Tensor rows = embed.encode(ctx, input, &trace);
    EXPECT_EQ(rows.shape, Shape({input.num_tokens(), tiny_checkpoint().config().decoder.hidden_size}));
  }
  const auto check = [&](const std::string& stage, const std::vector<float>& values, double tolerance) {
    const json& entry = golden.at("tensors").at(stage);
    EXPECT_TRUE(compare_phi3v(stage, phi3v_tensor(stored.at(stage), entry), entry, values, tolerance));
  };
  const bool jpeg = GetParam().name == "img_cars_jpg_c4";
  check("pixel_values", pixels, jpeg ? 0.06 : 2e-6);
  if (jpeg) return;  // its decoder may be a few grey levels off
  if (golden.at("tensors").contains("clip_embeddings")) {
    check("clip_embeddings", trace.stages.at("vision.embeddings"), 1e-4);
    check("clip_pre_ln", trace.stages.at("vision.pre_layernorm"), 1e-4);
    for (int layer = 0; layer < 3; ++layer) {
      const std::string number = std::to_string(layer);
      check("clip_layer_" + number, trace.stages.at("vision.layer" + number), 1e-4);
    }
  }
  check("tower", trace.stages.at("vision.features"), 1e-4);
  check("merged", trace.stages.at("vision.merged"), 1e-4);
  check("projected", trace.stages.at("vision.projected"), 2e-4);
}

// Every case on the fastest set of the machine; on the others those that differ in shape and stages.
std::vector<Run> runs() {
  std::vector<Run> list;
  const json all = read_test_json(phi3v_root() + "/cases/cases.json");
  for (const json& entry : all.at("cases")) {
    if (!entry.at("images").empty()) list.push_back({supported_isas().back(), entry.at("name")});
  }
  for (const Isa isa : supported_isas()) {
    if (isa == supported_isas().back()) continue;
    for (const char* name : {"img_square_c4", "img_wide_c4", "img_tiny_c1"}) list.push_back({isa, name});
  }
  return list;
}
INSTANTIATE_TEST_SUITE_P(Cases, Phi3vTower, ::testing::ValuesIn(runs()),
                         [](const auto& run) { return std::string(isa_name(run.param.isa)) + "_" + run.param.name; });

// The rows of an image are the same to the last bit whatever stands beside it and however many threads work.
TEST(Phi3vTowerBits, DoNotDependOnThreads) {
  const ImageEmbed embed = bind_image_embed(tiny_checkpoint());
  Image image(500, 200);
  for (size_t i = 0; i < image.rgb.size(); ++i) image.rgb[i] = static_cast<uint8_t>(i * 7919 >> 5);
  const ImageInput input = process_image(image, 3);
  std::vector<float> first;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    Workspace workspace;
    const KernelContext ctx{&kernel_table(choose_isa()), &pool, &workspace};
    const Tensor rows = embed.encode(ctx, input);
    if (first.empty()) {
      first = rows.data;
    } else {
      EXPECT_EQ(first, rows.data);
    }
  }
}

}  // namespace
}  // namespace omniphi::phi3v
