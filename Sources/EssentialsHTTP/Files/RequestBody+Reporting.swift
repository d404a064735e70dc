import EssentialsTools

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension RequestBody {
    /// A copy of the body that reports its progress while the transport reads it.
    ///
    /// Bytes are counted when the transport reads them, which is up to 1 MiB before they are sent. The report ends with
    /// the last byte, when the source fails, or when the last copy of the body is released. If the body is sent again,
    /// the values continue only above the progress of the first attempt. Bytes in memory are sent in chunks of 64 KiB.
    ///
    /// ```swift
    /// request.body = try RequestBody.file("/srv/films/1.mp4").reporting(to: ProgressReport { bar.show($0) })
    /// ```
    public func reporting(to report: ProgressReport) -> RequestBody {
        switch content {
        case .none:
            report.begin(expected: 0)
            report.finish()
            return self
        case .bytes(let data):
            return Self.counted(length: data.count, isReplayable: true, report) {
                let pieces = Pieces(of: data)
                return { pieces.next() }
            }
        case .stream(let length, let isReplayable, let open):
            return Self.counted(length: length, isReplayable: isReplayable, report, open)
        }
    }

    private static func counted(
        length: Int?, isReplayable: Bool, _ report: ProgressReport, _ open: @escaping @Sendable () -> Source
    ) -> RequestBody {
        RequestBody(
            content: .stream(length: length, isReplayable: isReplayable) {
                let source = open()
                let taken = Count()
                let expected = length.map(Int64.init)
                report.begin(expected: expected)
                if expected == 0 { report.finish() }
                return {
                    do {
                        guard let piece = try await source() else {
                            report.finish()
                            return nil
                        }
                        let bytes = taken.add(piece.count)
                        report.reached(bytes)
                        // A transport that knows the length does not read the end.
                        if bytes == expected { report.finish() }
                        return piece
                    } catch {
                        report.finish()
                        throw error
                    }
                }
            })
    }

    /// Returns bytes in memory chunk by chunk.
    private final class Pieces: Sendable {
        private static let size = 64 << 10
        private let rest: Mutex<Data>

        init(of data: Data) { rest = Mutex(data) }

        func next() -> Data? {
            rest.withLock { rest in
                guard !rest.isEmpty else { return nil }
                // A copy, so that its indices begin at 0.
                let piece = Data(Array(rest.prefix(Self.size)))
                rest = rest.dropFirst(Self.size)
                return piece
            }
        }
    }

    /// The number of bytes that one attempt has read.
    private final class Count: Sendable {
        private let bytes = Mutex<Int64>(0)

        func add(_ count: Int) -> Int64 {
            bytes.withLock { bytes in
                bytes += Int64(count)
                return bytes
            }
        }
    }
}
