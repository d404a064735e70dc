import EssentialsStorage
import FoundationEssentials
import Glibc
import TestTools
import Testing

/// A directory of records, which is removed at the end of a test.
struct RecordFixture {
    let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    var path: String { scratch("records") }
    var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }
    var temporaries: [String] { names.filter { $0.hasSuffix(".tmp") } }
    var bodies: [String] { names.filter { $0.hasSuffix(".body") } }
    var records: [String] { names.filter { $0.hasSuffix(".record") } }

    /// A new instance, like that of another process.
    func directory(
        _ maximumBytes: Int = 16 << 20, calls: FileCalls = .system,
        _ change: (inout RecordDirectory.Configuration) -> Void = { _ in }
    ) -> RecordDirectory {
        var configuration = RecordDirectory.Configuration(mark: "SEtest", version: 1, maximumBytes: maximumBytes)
        configuration.recordsPerKey = 4
        configuration.largestInlineBody = 1_000
        change(&configuration)
        return RecordDirectory(absolute: path, configuration, calls: calls)
    }

    func key(_ text: String, partition: UInt64 = 1, group: UInt64 = 1) -> RecordKey {
        let bytes = Array(text.utf8)
        let hash = bytes.reduce(7 as UInt128) { ($0 &+ UInt128($1)) &* 0x1_0000_0001_b3 }
        return RecordKey(RecordName(key: hash, partition: partition, group: group), bytes)
    }

    func bytes(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: URL(filePath: path + "/" + name))) }

    /// Changes a file in place.
    func write(_ bytes: [UInt8], _ name: String) throws {
        let file = try OpenFile(path + "/" + name, O_WRONLY | O_TRUNC)
        try FileCalls.system.writeAll(bytes.span.bytes, to: file)
    }

    func inode(_ name: String) throws -> FileStatus.Identity { try FileStatus(of: path + "/" + name).identity }
}

extension RecordDirectory {
    /// Stores a record in one piece.
    @discardableResult
    func store(
        _ key: RecordKey, _ head: String, _ body: [UInt8], number: UInt8 = 0, isFile: Bool = false
    ) throws(FileError) -> StoredRecord? {
        var writer = try begin(key, isFile: isFile)
        do throws(FileError) {
            try writer.append(body.span.bytes)
        } catch {
            writer.abandon()
            throw error
        }
        return try writer.commit(head: Array(head.utf8), number: number)
    }
}

extension StoredRecord {
    var headText: String { String(decoding: head, as: UTF8.self) }

    /// The whole body; `nil` if it is damaged.
    func bytes() throws(FileError) -> [UInt8]? {
        switch body {
        case .inline(let bytes): Array(bytes)
        case .file(let file): try file.bytes(in: 0..<Int(file.size)).map { Array($0) }
        }
    }
}

/// Bytes that differ from place to place.
func pattern(_ count: Int, _ seed: UInt8 = 0) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) ^ seed }
}
