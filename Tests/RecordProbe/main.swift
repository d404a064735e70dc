import EssentialsStorage
import Glibc

// A program with a directory of records, which tests start and kill.
//
// usage: RecordProbe DIRECTORY NUMBER MAXIMUM
//
// The lines of the input are commands:
// - `rounds N` stores, replaces, removes and reads N times, and prints `done`.
// - `endless` does so until the process is killed, and prints `round N`.
// - `check` reads all records, and prints `whole`.
// - `remove` removes the records of the process's partition, and prints `removed`.
//
// A record that is not whole is reported as `broken KEY`.

func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDOUT_FILENO, bytes, bytes.count)
}

struct ProbedRecords {
    private static let keys = 16 as UInt64
    private let directory: RecordDirectory
    /// The number of this process, 0 or 1, and its partition.
    private let number: UInt64
    private var round = 0

    init?(_ words: [String]) {
        guard words.count == 3, let number = UInt64(words[1]), let maximum = Int(words[2]) else { return nil }
        self.number = number
        var configuration = RecordDirectory.Configuration(mark: "SEtest", version: 1, maximumBytes: maximum)
        configuration.largestInlineBody = 1_000
        directory = RecordDirectory(absolute: words[0], configuration)
    }

    /// Half of the keys are those of this process, and the others belong to all.
    private func key(_ index: UInt64, _ partition: UInt64) -> RecordKey {
        RecordKey(RecordName(key: UInt128(index), partition: partition, group: index % 3), Array("\(index)".utf8))
    }

    /// The bytes of a body are all the same, and the head says how many there are.
    private func check(_ record: StoredRecord, _ key: RecordKey) throws(FileError) {
        let bytes: [UInt8]?
        switch record.body {
        case .inline(let inline): bytes = Array(inline)
        case .file(let file): bytes = try file.bytes(in: 0..<Int(file.size)).map { Array($0) }
        }
        let size = String(decoding: record.head, as: UTF8.self).split(separator: " ").first.flatMap { Int($0) }
        guard let bytes, bytes.count == size, Set(bytes).count <= 1 else {
            return say("broken \(String(decoding: key.bytes, as: UTF8.self))")
        }
    }

    mutating func goOn() throws(FileError) {
        round += 1
        if round % 10 == 0 { try directory.writeIndex() }
        let partition = round % 2 == 0 ? number : 9
        let key = key(UInt64(round * 5) % Self.keys, partition)
        switch round % 7 {
        case 3:
            if let record = try directory.record(for: key) {
                let size = String(decoding: record.head, as: UTF8.self).split(separator: " ").first ?? ""
                _ = try directory.replaceHead(of: record, by: Array("\(size) \(round)".utf8))
            }
        case 5: if round % 35 == 5 { try directory.invalidate(key) }
        case 6: if round % 70 == 6 { try directory.removeAll(in: RecordScope(partition: number)) }
        default:
            let bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round * 131 % 4_000)
            var writer = try directory.begin(key)
            do throws(FileError) {
                for start in stride(from: 0, to: bytes.count, by: 700) {
                    let part = Array(bytes[start..<min(start + 700, bytes.count)])
                    try writer.append(part.span.bytes)
                }
            } catch {
                writer.abandon()
                throw error
            }
            _ = try writer.commit(head: Array("\(bytes.count)".utf8))
        }
        let other = self.key(UInt64(round * 3) % Self.keys, round % 3 == 0 ? number : 9)
        if let record = try directory.record(for: other) { try check(record, other) }
    }

    mutating func run() throws(FileError) {
        while let line = readLine() {
            let command = line.split(separator: " ")
            switch command.first {
            case "rounds":
                for _ in 0..<(command.last.flatMap { Int($0) } ?? 0) { try goOn() }
                say("done")
            case "endless":
                while true {
                    try goOn()
                    say("round \(round)")
                }
            case "check":
                for partition in [0, 1, 9] as [UInt64] {
                    for index in 0..<Self.keys {
                        let key = key(index, partition)
                        if let record = try directory.record(for: key) { try check(record, key) }
                    }
                }
                say("whole")
            case "remove":
                try directory.removeAll(in: RecordScope(partition: number))
                try directory.removeAll(in: RecordScope(partition: 9))
                say("removed")
            default: exit(2)
            }
        }
    }
}

guard var records = ProbedRecords(Array(CommandLine.arguments.dropFirst())) else { exit(2) }
do throws(FileError) {
    try records.run()
} catch {
    say("failed \(error)")
    exit(1)
}
