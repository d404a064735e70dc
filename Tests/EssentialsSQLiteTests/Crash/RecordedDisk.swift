import TestTools

#if Persistence
    import Testing

    @testable import StoreProbe

    /// The writes of a store to its files, and the files that may remain if the power is lost at any moment.
    struct RecordedDisk {
        /// The unsynchronized writes that remain after a loss of power.
        enum Loss: CaseIterable {
            case all, none
            /// Any sectors of any of them, in any order.
            case some
        }

        private struct Record {
            let kind: DiskRecorder.Kind
            let file: Int
            let offset: Int
            let bytes: ArraySlice<UInt8>

            /// The parts that a disk writes whole or not at all: sectors of 512 bytes.
            var parts: [Record] {
                if kind != .write { return [self] }
                return stride(from: 0, to: bytes.count, by: 512).map { start in
                    Record(kind: kind, file: file, offset: offset + start, bytes: bytes.dropFirst(start).prefix(512))
                }
            }
        }

        private var records: [Record] = []
        var count: Int { records.count }

        init(_ bytes: [UInt8]) throws {
            func number(_ place: Int) -> Int { (0..<8).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) } }
            var place = 0
            while place < bytes.count {
                let kind = try #require(DiskRecorder.Kind(rawValue: bytes[place]))
                let end = place + 18 + number(place + 10)
                let content = bytes[place + 18..<end]
                records.append(
                    Record(kind: kind, file: Int(bytes[place + 1]), offset: number(place + 2), bytes: content))
                place = end
            }
        }

        /// The last step that was confirmed before a number of records.
        func confirmed(before count: Int) -> Int {
            records.prefix(count).last { $0.kind == .confirm }?.offset ?? 0
        }

        /// Possible contents of the file, the log and the journal if the power is lost after a number of records.
        func files(after count: Int, _ loss: Loss, _ numbers: inout SeededNumbers) -> [[UInt8]] {
            var files: [[UInt8]] = [[], [], []]
            var waiting: [[Record]] = [[], [], []]
            var isNew = [true, true, true]
            for record in records.prefix(count) {
                switch record.kind {
                case .confirm: break
                case .write, .truncate: waiting[record.file].append(record)
                case .delete:
                    waiting[record.file].append(record)
                    isNew[record.file] = true
                case .sync:
                    // SQLite synchronizes the folder, and so all deletions, with the first content of a new log or
                    // journal.
                    if isNew[record.file], record.file > 0 { Self.delete(&waiting, &files) }
                    isNew[record.file] = false
                    for record in waiting[record.file] { Self.apply(record, to: &files[record.file]) }
                    waiting[record.file] = []
                }
            }
            for (file, records) in waiting.enumerated() {
                switch loss {
                case .all: break
                case .none: for record in records { Self.apply(record, to: &files[file]) }
                case .some:
                    for part in records.flatMap(\.parts) where Bool.random(using: &numbers) {
                        Self.apply(part, to: &files[file])
                    }
                }
            }
            return files
        }

        /// Performs the waiting deletions.
        private static func delete(_ waiting: inout [[Record]], _ files: inout [[UInt8]]) {
            for file in files.indices {
                guard let last = waiting[file].lastIndex(where: { $0.kind == .delete }) else { continue }
                waiting[file].removeFirst(last + 1)
                files[file] = []
            }
        }

        /// Performs a record.
        private static func apply(_ record: Record, to file: inout [UInt8]) {
            guard record.kind == .write else { return resize(&file, to: record.offset) }
            let end = record.offset + record.bytes.count
            if file.count < end { resize(&file, to: end) }
            file.withUnsafeMutableBytes { file in
                record.bytes.withUnsafeBytes { file[record.offset..<end].copyBytes(from: $0) }
            }
        }

        private static func resize(_ file: inout [UInt8], to count: Int) {
            if count < file.count {
                file.removeSubrange(count...)
            } else {
                file.append(contentsOf: repeatElement(0, count: count - file.count))
            }
        }
    }
#endif
