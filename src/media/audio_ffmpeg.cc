#include "media/audio_ffmpeg.h"

#include <algorithm>
#include <cstdarg>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/opt.h>
}

namespace omniphi::audio {
namespace {

struct CodecChoice {
  AVCodecID id;
  const char* decoder;
};

// The decoders that may run, by name: several share an id, and which one FFmpeg prefers depends on how it was built.
// Opus is decoded by libopus: FFmpeg's own decoder differs from it by 20 dB below the signal at speech bit rates.
constexpr CodecChoice kCodecs[] = {
    {AV_CODEC_ID_AAC, "aac"},
    {AV_CODEC_ID_ALAC, "alac"},
    {AV_CODEC_ID_FLAC, "flac"},
    {AV_CODEC_ID_MP1, "mp1float"},
    {AV_CODEC_ID_MP2, "mp2float"},
    {AV_CODEC_ID_MP3, "mp3float"},
    {AV_CODEC_ID_OPUS, "libopus"},
    {AV_CODEC_ID_VORBIS, "vorbis"},
    {AV_CODEC_ID_PCM_S8, "pcm_s8"},
    {AV_CODEC_ID_PCM_U8, "pcm_u8"},
    {AV_CODEC_ID_PCM_S16LE, "pcm_s16le"},
    {AV_CODEC_ID_PCM_S16BE, "pcm_s16be"},
    {AV_CODEC_ID_PCM_S24LE, "pcm_s24le"},
    {AV_CODEC_ID_PCM_S24BE, "pcm_s24be"},
    {AV_CODEC_ID_PCM_S32LE, "pcm_s32le"},
    {AV_CODEC_ID_PCM_S32BE, "pcm_s32be"},
    {AV_CODEC_ID_PCM_F32LE, "pcm_f32le"},
    {AV_CODEC_ID_PCM_F32BE, "pcm_f32be"},
    {AV_CODEC_ID_PCM_F64LE, "pcm_f64le"},
    {AV_CODEC_ID_PCM_F64BE, "pcm_f64be"},
    {AV_CODEC_ID_PCM_ALAW, "pcm_alaw"},
    {AV_CODEC_ID_PCM_MULAW, "pcm_mulaw"},
};

const char* demuxer_name(AudioFormat format) {
  switch (format) {
    case AudioFormat::kFlac:
      return "flac";
    case AudioFormat::kMp3:
      return "mp3";
    case AudioFormat::kAdts:
      return "aac";
    case AudioFormat::kOgg:
      return "ogg";
    case AudioFormat::kMp4:
      return "mov";
    case AudioFormat::kMatroska:
      return "matroska";
    case AudioFormat::kAiff:
      return "aiff";
    default:
      return "";
  }
}

const char* decoder_name(AVCodecID id) {
  for (const CodecChoice& choice : kCodecs) {
    if (choice.id == id) return choice.decoder;
  }
  return nullptr;
}

std::string codec_whitelist() {
  std::string list;
  for (const CodecChoice& choice : kCodecs) list += (list.empty() ? "" : ",") + std::string(choice.decoder);
  return list;
}

std::string error_text(int status) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(status, text, sizeof text);
  return text;
}

void ignore_log(void*, int, const char*, va_list) {}

// The bytes as FFmpeg reads them. A damaged index can send a demuxer to and fro without end, so what it reads
// altogether is limited.
struct MemoryFile {
  std::string_view bytes;
  size_t position = 0;
  uint64_t budget = 0;

  static int read(void* opaque, uint8_t* buffer, int size) {
    auto* file = static_cast<MemoryFile*>(opaque);
    const size_t count = std::min(static_cast<size_t>(size), file->bytes.size() - file->position);
    if (count == 0) return AVERROR_EOF;
    if (count > file->budget) return AVERROR(EIO);
    file->budget -= count;
    std::memcpy(buffer, file->bytes.data() + file->position, count);
    file->position += count;
    return static_cast<int>(count);
  }

  static int64_t seek(void* opaque, int64_t offset, int whence) {
    auto* file = static_cast<MemoryFile*>(opaque);
    const auto size = static_cast<int64_t>(file->bytes.size());
    if (whence & AVSEEK_SIZE) return size;
    whence &= ~AVSEEK_FORCE;
    const int64_t base = whence == SEEK_CUR ? static_cast<int64_t>(file->position) : whence == SEEK_END ? size : 0;
    if (offset < -base || offset > size - base) return AVERROR(EINVAL);
    file->position = static_cast<size_t>(base + offset);
    return base + offset;
  }
};

int refuse_open(AVFormatContext*, AVIOContext**, const char*, int, AVDictionary**) { return AVERROR(EPERM); }

struct IoDeleter {
  void operator()(AVIOContext* io) const {
    av_freep(&io->buffer);
    avio_context_free(&io);
  }
};
struct FormatDeleter {
  void operator()(AVFormatContext* format) const { avformat_close_input(&format); }
};
struct CodecDeleter {
  void operator()(AVCodecContext* codec) const { avcodec_free_context(&codec); }
};
struct PacketDeleter {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};
struct FrameDeleter {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};

struct Dictionary {
  AVDictionary* entries = nullptr;
  ~Dictionary() { av_dict_free(&entries); }
  void set(const char* key, const std::string& value) { av_dict_set(&entries, key, value.c_str(), 0); }
};

// A channel's samples of a decoded frame, added to `mono` in double.
template <typename T>
void add_channel(const AVFrame& frame, int channel, double scale, std::vector<double>& mono) {
  const bool planar = av_sample_fmt_is_planar(static_cast<AVSampleFormat>(frame.format)) != 0;
  const auto channels = static_cast<size_t>(frame.ch_layout.nb_channels);
  const auto* data = reinterpret_cast<const T*>(frame.extended_data[planar ? channel : 0]);
  const size_t stride = planar ? 1 : channels, first = planar ? 0 : static_cast<size_t>(channel);
  constexpr double kZero = std::is_unsigned_v<T> ? 128 : 0;  // the only unsigned format has 8 bits
  for (size_t i = 0; i < mono.size(); ++i) {
    mono[i] += (static_cast<double>(data[first + i * stride]) - kZero) * scale;
  }
}

// Drops the encoder's padding behind `length` samples: what a coder adds to fill its last block is less than kLongest.
// More than that means that the declared length is wrong, and everything is passed on.
class PaddingTrimmer {
 public:
  explicit PaddingTrimmer(CheckedSink& sink) : sink_(sink) {}

  void set_length(int64_t length) { length_ = length; }

  void push(std::span<const double> mono) {
    if (length_ >= 0) {
      const int64_t room = std::clamp<int64_t>(length_ - sink_.total(), 0, static_cast<int64_t>(mono.size()));
      const auto kept = mono.first(static_cast<size_t>(room)), beyond = mono.subspan(static_cast<size_t>(room));
      sink_.push(kept);
      held_.insert(held_.end(), beyond.begin(), beyond.end());
      if (held_.size() <= kLongest) return;
      length_ = -1;
      mono = held_;
    }
    sink_.push(mono);
  }

 private:
  static constexpr size_t kLongest = 8192;
  CheckedSink& sink_;
  int64_t length_ = -1;  // -1: unknown, nothing is padding
  std::vector<double> held_;
};

// One opened file.
class Decoder {
 public:
  Decoder(const AudioSource& source, AudioFormat format, const ContainerFacts& facts, CheckedSink& sink)
      : source_(source), sink_(sink), facts_(facts), format_kind_(format), trimmer_(sink) {
    file_.bytes = facts.bytes;
    file_.budget = 16 * static_cast<uint64_t>(facts.bytes.size()) + (uint64_t{64} << 20);
    open_container();
    choose_stream();
    open_codec();
  }

  void run();

 private:
  void open_container();
  void choose_stream();
  void open_codec();
  void send(const AVPacket* packet);
  void take_frame();
  int64_t declared_length(int sample_rate) const;
  void check(int status, const char* doing) const;

  const AudioSource& source_;
  CheckedSink& sink_;
  const ContainerFacts& facts_;
  AudioFormat format_kind_;
  MemoryFile file_;
  std::unique_ptr<AVIOContext, IoDeleter> io_;
  std::unique_ptr<AVFormatContext, FormatDeleter> format_;
  std::unique_ptr<AVCodecContext, CodecDeleter> codec_;
  std::unique_ptr<AVFrame, FrameDeleter> frame_{av_frame_alloc()};
  AVStream* stream_ = nullptr;
  std::vector<double> mono_;
  PaddingTrimmer trimmer_;
  bool has_length_ = false;
  int64_t packet_bytes_ = 0;
};

void Decoder::check(int status, const char* doing) const {
  if (status >= 0) return;
  const std::string expected = facts_.expected_samples >= 0
                                   ? std::to_string(facts_.expected_samples) + " samples as its header declares"
                                   : "a file that decodes to its end";
  throw input_error(source_.name,
                    std::string("damaged or truncated data: ") + doing + " failed after " +
                        std::to_string(sink_.total()) + " samples (" + error_text(status) + ")",
                    expected, "copy or encode the audio again");
}

void Decoder::open_container() {
  constexpr int kBuffer = 1 << 16;
  auto* buffer = static_cast<unsigned char*>(av_malloc(kBuffer));
  if (buffer == nullptr) throw std::bad_alloc();
  io_.reset(avio_alloc_context(buffer, kBuffer, 0, &file_, &MemoryFile::read, nullptr, &MemoryFile::seek));
  AVFormatContext* context = avformat_alloc_context();
  if (io_ == nullptr || context == nullptr || frame_ == nullptr) throw std::bad_alloc();
  const AVInputFormat* demuxer = av_find_input_format(demuxer_name(format_kind_));
  if (demuxer == nullptr) internal_error("audio", std::string("FFmpeg has no demuxer ") + demuxer_name(format_kind_));
  context->pb = io_.get();
  context->io_open = &refuse_open;
  Dictionary options;
  options.set("format_whitelist", demuxer->name);
  options.set("codec_whitelist", codec_whitelist());
  options.set("protocol_whitelist", "");
  const int status = avformat_open_input(&context, nullptr, demuxer, &options.entries);  // frees `context` on failure
  check(status, "reading its header");
  format_.reset(context);
  check(avformat_find_stream_info(context, nullptr), "looking for its streams");
}

void Decoder::choose_stream() {
  for (unsigned i = 0; i < format_->nb_streams; ++i) {
    AVStream* stream = format_->streams[i];
    const AVMediaType type = stream->codecpar->codec_type;
    const bool cover = (stream->disposition & AV_DISPOSITION_ATTACHED_PIC) != 0;
    if (type == AVMEDIA_TYPE_VIDEO && !cover) {
      throw input_error(source_.name, "a video stream", "audio alone", "extract the audio into a file of its own");
    }
    if (type == AVMEDIA_TYPE_AUDIO && stream_ == nullptr) {
      stream_ = stream;
    } else {
      stream->discard = AVDISCARD_ALL;
    }
  }
  if (stream_ == nullptr) throw input_error(source_.name, "no audio stream", "one");
}

void Decoder::open_codec() {
  const AVCodecID id = stream_->codecpar->codec_id;
  const char* name = decoder_name(id);
  if (name == nullptr) {
    throw input_error(source_.name, std::string("audio coded as ") + avcodec_get_name(id),
                      "AAC, ALAC, FLAC, MP3, Opus, Vorbis or PCM", "convert the file, to FLAC for instance");
  }
  const AVCodec* decoder = avcodec_find_decoder_by_name(name);
  if (decoder == nullptr) internal_error("audio", std::string("FFmpeg has no decoder ") + name);
  codec_.reset(avcodec_alloc_context3(decoder));
  if (codec_ == nullptr) throw std::bad_alloc();
  check(avcodec_parameters_to_context(codec_.get(), stream_->codecpar), "reading its parameters");
  codec_->thread_count = 1;
  codec_->request_sample_fmt = AV_SAMPLE_FMT_FLT;  // libopus would round to 16 bits
  codec_->pkt_timebase = stream_->time_base;
  // FLAC carries checksums and its decoder would only report them. Other decoders call legal streams damaged.
  if (id == AV_CODEC_ID_FLAC) codec_->err_recognition = AV_EF_CRCCHECK | AV_EF_EXPLODE;
  // FFmpeg's Ogg reader counts one block too few in short Vorbis files and would cut it off; our trimmer is exact.
  if (id == AV_CODEC_ID_VORBIS && facts_.end_sample >= 0) codec_->flags2 |= AV_CODEC_FLAG2_SKIP_MANUAL;
  Dictionary options;
  options.set("codec_whitelist", codec_whitelist());
  check(avcodec_open2(codec_.get(), decoder, &options.entries), "opening its decoder");
}

void Decoder::run() {
  const std::unique_ptr<AVPacket, PacketDeleter> packet(av_packet_alloc());
  if (packet == nullptr) throw std::bad_alloc();
  while (true) {
    const int status = av_read_frame(format_.get(), packet.get());
    if (status == AVERROR_EOF) break;
    check(status, "reading");
    if (packet->stream_index == stream_->index) {
      if (packet->flags & AV_PKT_FLAG_CORRUPT) check(AVERROR_INVALIDDATA, "reading");
      packet_bytes_ += packet->size;
      send(packet.get());
    }
    av_packet_unref(packet.get());
  }
  check(io_->error == AVERROR_EOF ? 0 : io_->error, "reading");
  send(nullptr);
  if (facts_.expected_samples >= 0 && sink_.total() < facts_.expected_samples) {
    throw truncated_error(source_.name, std::to_string(sink_.total()) + " samples",
                          std::to_string(facts_.expected_samples) + " as its header declares");
  }
  if (facts_.expected_bytes >= 0 && packet_bytes_ < facts_.expected_bytes) {
    throw truncated_error(source_.name, std::to_string(packet_bytes_) + " bytes of whole frames",
                          std::to_string(facts_.expected_bytes) + ", all bytes of the file");
  }
}

// A null packet drains the decoder.
void Decoder::send(const AVPacket* packet) {
  check(avcodec_send_packet(codec_.get(), packet), "decoding");
  while (true) {
    const int status = avcodec_receive_frame(codec_.get(), frame_.get());
    if (status == AVERROR(EAGAIN) || status == AVERROR_EOF) return;
    check(status, "decoding");
    take_frame();
    av_frame_unref(frame_.get());
  }
}

// Where the encoder's padding begins, in samples; -1 when the container doesn't tell or FFmpeg has seen to it.
int64_t Decoder::declared_length(int sample_rate) const {
  if (format_kind_ == AudioFormat::kMp4 && stream_->duration > 0) {
    return av_rescale_q(stream_->duration, stream_->time_base, {1, sample_rate});
  }
  return facts_.end_sample;
}

void Decoder::take_frame() {
  const AVFrame& frame = *frame_;
  const int channels = frame.ch_layout.nb_channels;
  sink_.begin(frame.sample_rate, channels);
  if (!has_length_) trimmer_.set_length(declared_length(frame.sample_rate));
  has_length_ = true;
  mono_.assign(static_cast<size_t>(frame.nb_samples), 0.0);
  for (int channel = 0; channel < channels; ++channel) {
    switch (av_get_packed_sample_fmt(static_cast<AVSampleFormat>(frame.format))) {
      case AV_SAMPLE_FMT_U8:
        add_channel<uint8_t>(frame, channel, 1.0 / 128, mono_);
        break;
      case AV_SAMPLE_FMT_S16:
        add_channel<int16_t>(frame, channel, 1.0 / 32768, mono_);
        break;
      case AV_SAMPLE_FMT_S32:
        add_channel<int32_t>(frame, channel, 1.0 / 2147483648.0, mono_);
        break;
      case AV_SAMPLE_FMT_FLT:
        add_channel<float>(frame, channel, 1.0, mono_);
        break;
      case AV_SAMPLE_FMT_DBL:
        add_channel<double>(frame, channel, 1.0, mono_);
        break;
      default:
        internal_error("audio", "FFmpeg's sample format " + std::to_string(frame.format));
    }
  }
  if (channels > 1) {
    for (double& sample : mono_) sample /= channels;
  }
  trimmer_.push(mono_);
}

}  // namespace

void read_with_ffmpeg(const AudioSource& source, AudioFormat format, const ContainerFacts& facts, CheckedSink& sink) {
  static std::once_flag quiet;
  std::call_once(quiet, [] { av_log_set_callback(&ignore_log); });
  Decoder(source, format, facts, sink).run();
}

}  // namespace omniphi::audio
