#include "base/error.h"
#include "models/phi3v/checkpoint/synth.h"

namespace omniphi::phi3v {
namespace {

// Values of the released config.json, and those of the CLIP that it names.
Config released() {
  Config config;
  config.vision = kClipVision;
  DecoderConfig& d = config.decoder;
  d.vocab_size = 32'064;
  d.hidden_size = 3072;
  d.intermediate_size = 8192;
  d.num_layers = 32;
  d.num_heads = 32;
  d.num_kv_heads = 32;
  d.head_dim = d.rotary_dim = 96;
  d.rms_norm_eps = 1e-5f;
  d.rope_theta = 10'000;
  d.original_max_position_embeddings = 4096;
  d.max_position_embeddings = 131'072;
  d.short_factor = {1.08,
                    1.1,
                    1.1300000000000001,
                    1.2800000000000002,
                    1.3100000000000003,
                    1.4500000000000004,
                    1.4500000000000004,
                    1.9500000000000008,
                    2.030000000000001,
                    2.4299999999999926,
                    2.5699999999999896,
                    2.9499999999999815,
                    3.729999999999965,
                    3.869999999999962,
                    4.189999999999955,
                    4.43999999999995,
                    4.6399999999999455,
                    4.979999999999938,
                    5.159999999999934,
                    5.279999999999932,
                    5.759999999999922,
                    5.889999999999919,
                    5.889999999999919,
                    5.969999999999917,
                    6.089999999999915,
                    6.2799999999999105,
                    6.7699999999999,
                    6.8899999999998975,
                    7.109999999999893,
                    7.129999999999892,
                    7.179999999999891,
                    7.289999999999889,
                    7.339999999999888,
                    7.559999999999883,
                    7.619999999999882,
                    7.69999999999988,
                    7.879999999999876,
                    7.879999999999876,
                    7.879999999999876,
                    7.939999999999875,
                    7.949999999999875,
                    7.979999999999874,
                    8.19999999999987,
                    8.439999999999864,
                    8.469999999999864,
                    8.589999999999861,
                    8.809999999999857,
                    8.999999999999853};
  d.long_factor = {1.0800000429153442, 1.1100000143051147, 1.1399999856948853, 1.340000033378601,  1.5899999141693115,
                   1.600000023841858,  1.6200000047683716, 2.620000123977661,  3.2300000190734863, 3.2300000190734863,
                   4.789999961853027,  7.400000095367432,  7.700000286102295,  9.09000015258789,   12.199999809265137,
                   17.670000076293945, 24.46000099182129,  28.57000160217285,  30.420001983642578, 30.840002059936523,
                   32.590003967285156, 32.93000411987305,  42.320003509521484, 44.96000289916992,  50.340003967285156,
                   50.45000457763672,  57.55000305175781,  57.93000411987305,  58.21000289916992,  60.1400032043457,
                   62.61000442504883,  62.62000274658203,  62.71000289916992,  63.1400032043457,   63.1400032043457,
                   63.77000427246094,  63.93000411987305,  63.96000289916992,  63.970001220703125, 64.02999877929688,
                   64.06999969482422,  64.08000183105469,  64.12000274658203,  64.41000366210938,  64.4800033569336,
                   64.51000213623047,  64.52999877929688,  64.83999633789062};
  config.vision.max_crops = 4;
  config.bos_token_id = 1;
  config.eos_token_ids = {32'007, 32'000};
  return config;
}

// The same traits (packed projections, a head of its own, an unused last block, special ids in the released order
// behind 960 text ids) at sizes that run in milliseconds, and grouped heads, which the layout allows.
Config tiny() {
  Config config = released();
  DecoderConfig& d = config.decoder;
  d.vocab_size = 1024;
  d.hidden_size = 96;
  d.intermediate_size = 160;
  d.num_layers = 3;
  d.num_heads = 4;
  d.num_kv_heads = 2;
  d.head_dim = d.rotary_dim = 24;
  d.original_max_position_embeddings = 640;
  d.max_position_embeddings = 20'480;
  d.short_factor = {1.0, 1.01, 1.01, 1.02, 1.03, 1.04, 1.06, 1.07, 1.1, 1.12, 1.13, 1.15};
  d.long_factor = {1.0, 3.3, 5.1, 8.7, 10.8, 12.7, 14.5, 16.8, 24.4, 29.1, 29.4, 31.8};
  config.vision.hidden_size = 64;
  config.vision.intermediate_size = 128;
  config.vision.num_layers = 4;
  config.vision.num_heads = 4;
  config.eos_token_ids = {967, 960};
  return config;
}

}  // namespace

Config preset_config(const std::string& name) {
  if (name == "phi3.5v") return released();
  if (name == "tiny-phi3v") return tiny();
  throw Error(ErrorKind::kUsage, "--preset", name, "phi3.5v or tiny-phi3v");
}

}  // namespace omniphi::phi3v
