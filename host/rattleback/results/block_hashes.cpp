#include "rattleback/results/block_hashes.hpp"

#include <algorithm>
#include <utility>

#include "rattleback/base/parallel.hpp"

namespace rattleback {

BlockHashes::BlockHashes(std::uint64_t bytes, std::uint64_t block)
    : bytes_(bytes), block_(block), digits_(bytes > block ? (bytes + block - 1) / block : 0) {}

void BlockHashes::add(std::uint64_t first, std::string_view bytes, unsigned threads) {
  if (digits_.empty() || bytes.empty()) return;
  struct Piece {
    std::uint64_t block, end;
    std::string_view bytes;
    std::optional<Begun> of = {};
  };
  std::vector<Piece> pieces;
  const std::uint64_t end = first + bytes.size();
  if (begun_ && begun_->next != first && first < (begun_->next / block_ + 1) * block_ &&
      end > begun_->next / block_ * block_)
    begun_.reset();  // bytes that it has already hashed may be other ones now
  for (std::uint64_t at = first; at < end;) {
    const std::uint64_t block = at / block_, piece_end = std::min(end, (block + 1) * block_);
    digits_[block].clear();
    Piece piece{block, piece_end, bytes.substr(at - first, piece_end - at)};
    if (begun_ && begun_->next == at) {
      piece.of = std::exchange(begun_, std::nullopt);
    } else if (at % block_ == 0) {
      piece.of.emplace();
    }
    if (piece.of) pieces.push_back(std::move(piece));
    at = piece_end;
  }
  const auto hash = [&](std::uint64_t i) {
    Piece& piece = pieces[i];
    piece.of->hash.add(piece.bytes);
    piece.of->next = piece.end;
    if (piece.end == std::min(bytes_, (piece.block + 1) * block_)) digits_[piece.block] = piece.of->hash.digits();
  };
  if (pieces.size() == 1 || threads == 1) {
    for (std::uint64_t i = 0; i < pieces.size(); ++i) hash(i);
  } else {
    parallel_for(pieces.size(), threads, hash);
  }
  if (!pieces.empty() && digits_[pieces.back().block].empty()) begun_ = std::move(pieces.back().of);
}

}  // namespace rattleback
