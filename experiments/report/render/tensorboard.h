#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_TENSORBOARD_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_TENSORBOARD_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "ringside/experiments/report/study/study_table.h"

namespace ringside {

/// Writes one TensorBoard event file per run, from the metrics in its bundle, to
/// DIRECTORY/STRATEGY/WORKERS[-SERVERS]/RUN-ID: loss, accuracy, samples per second and step time by
/// step. A run without metrics has no file. Returns the number of files. Throws `DataError` when a
/// file cannot be written.
int WriteTensorBoard(const StudyTable& table, const std::string& directory);

/// A record of TensorFlow's TFRecord files: length and data, each with its masked CRC-32C.
std::string TfRecord(std::string_view data);
/// CRC-32C (Castagnoli), RFC 3720.
std::uint32_t Crc32c(std::string_view data);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_TENSORBOARD_H_
