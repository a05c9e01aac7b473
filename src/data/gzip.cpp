// gzip files in memory, through zlib.
#include <zlib.h>

#include <algorithm>
#include <limits>

#include "data/formats.hpp"

namespace shunt::data {

namespace {

constexpr std::size_t chunk_size = std::size_t(1) << 18;
constexpr int gzip_only = 15 + 16;  // inflateInit2's way to say so

class Inflater {
public:
    explicit Inflater(const std::string& source) : source_(source) {
        if (inflateInit2(&stream_, gzip_only) != Z_OK) throw Error(Fault::out_of_memory, "zlib has not enough memory.");
    }
    ~Inflater() { inflateEnd(&stream_); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    // Inflates one member into `text`; gives back how many bytes it took.
    std::size_t member(std::string_view bytes, std::string& text) {
        inflateReset(&stream_);
        std::size_t taken = 0;
        for (int state = Z_OK; state != Z_STREAM_END;) {
            const std::size_t part = std::min<std::size_t>(bytes.size() - taken, std::numeric_limits<uInt>::max());
            stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));  // zlib only reads it
            stream_.avail_in = static_cast<uInt>(part);
            stream_.next_out = reinterpret_cast<Bytef*>(chunk_.data());
            stream_.avail_out = static_cast<uInt>(chunk_.size());
            state = inflate(&stream_, Z_NO_FLUSH);
            taken += part - stream_.avail_in;
            if (state == Z_MEM_ERROR) throw Error(Fault::out_of_memory, "zlib has not enough memory.");
            if (state == Z_BUF_ERROR) throw Error(Fault::bad_file, source_ + " is truncated within its gzip data.");
            if (state != Z_OK && state != Z_STREAM_END) {
                const std::string why = stream_.msg ? stream_.msg : "not gzip data";
                throw Error(Fault::bad_file, source_ + ": the gzip data are damaged (" + why + ").");
            }
            text.append(chunk_.data(), chunk_.size() - stream_.avail_out);
        }
        return taken;
    }

private:
    const std::string& source_;
    z_stream stream_ = {};
    std::string chunk_ = std::string(chunk_size, '\0');
};

}  // namespace

bool is_gzip(std::string_view bytes) {
    return bytes.starts_with("\x1f\x8b");
}

std::string gunzip(std::string_view bytes, const std::string& source) {
    Inflater inflater(source);
    std::string text;
    do {
        bytes.remove_prefix(inflater.member(bytes, text));
        // Files may be joined, and padded with zeros by tape programs.
        if (bytes.find_first_not_of('\0') == std::string_view::npos) return text;
    } while (is_gzip(bytes));
    throw Error(Fault::bad_file, source + " has " + std::to_string(bytes.size()) + " bytes after its gzip data.");
}

}  // namespace shunt::data
