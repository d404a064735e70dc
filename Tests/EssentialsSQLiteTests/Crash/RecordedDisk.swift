#if Persistence
    import Testing

    @testable import StoreProbe

    /// What a store has written to its files, and what a loss of power at any moment may leave of it.
    struct RecordedDisk {
        /// Which writes that were not synchronized a loss of power leaves.
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
        }

        private static let sector = 512

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

        /// What the file, the log and the journal may hold if the power is lost after a number of records.
        func files(after count: Int, _ loss: Loss, _ numbers: inout SeededNumbers) -> [[UInt8]] {
            var files: [[UInt8]] = [[], [], []]
            var waiting: [[Record]] = [[], [], []]
            for record in records.prefix(count) {
                switch record.kind {
                case .confirm: break
                case .write, .truncate, .delete: waiting[record.file].append(record)
                case .sync:
                    for record in waiting[record.file] { Self.apply(record, to: &files[record.file]) { true } }
                    waiting[record.file] = []
                }
            }
            for (file, records) in waiting.enumerated() {
                for record in records {
                    Self.apply(record, to: &files[file]) {
                        switch loss {
                        case .all: false
                        case .none: true
                        case .some: Bool.random(using: &numbers)
                        }
                    }
                }
            }
            return files
        }

        /// Carries out those parts of a record that are kept.
        private static func apply(_ record: Record, to file: inout [UInt8], isKept: () -> Bool) {
            guard record.kind == .write else {
                if isKept() { resize(&file, to: record.offset) }
                return
            }
            for start in stride(from: 0, to: record.bytes.count, by: sector) where isKept() {
                let part = record.bytes.dropFirst(start).prefix(sector)
                let place = record.offset + start
                if file.count < place + part.count { resize(&file, to: place + part.count) }
                file.replaceSubrange(place..<place + part.count, with: part)
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
