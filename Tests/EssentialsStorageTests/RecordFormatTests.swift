import EssentialsStorage
import TestTools
import Testing

@Suite struct RecordFormatTests {
    private let format = RecordFormat(mark: "SEtest", version: 3, oldest: 2, partCount: 3)
    private let parts: [[UInt8]] = [Array("key".utf8), [], pattern(100)]

    private func read(_ bytes: [UInt8], _ format: RecordFormat) -> [[UInt8]]? {
        guard case .record(_, let parts) = format.content(of: bytes) else { return nil }
        return parts.map { Array(bytes[$0]) }
    }

    @Test("A record returns the parts that were written")
    func roundTrip() {
        let bytes = format.bytes(of: parts)
        #expect(read(bytes, format) == parts)
        #expect(bytes.count == format.headerSize + 103)
        #expect(format.content(of: bytes) == .record(version: 3, parts: [48..<51, 51..<51, 51..<151]))
    }

    @Test("Each changed bit is found")
    func changedBits() {
        let bytes = format.bytes(of: parts)
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(read(changed, format) == nil, "byte \(index), bit \(bit)")
            }
        }
    }

    @Test("Each missing and each additional byte is found")
    func lengths() {
        let bytes = format.bytes(of: parts)
        for count in 0..<bytes.count { #expect(format.content(of: Array(bytes[..<count])) == .damaged) }
        #expect(format.content(of: bytes + [0]) == .damaged)
    }

    @Test("Bytes that move from one part to another are found")
    func movedBytes() {
        let one = format.bytes(of: [[1, 2], [3], []])
        var other = format.bytes(of: [[1], [2, 3], []])
        other.replaceSubrange(40..<48, with: one[40..<48])
        #expect(format.content(of: other) == .damaged)
    }

    @Test("A version that is not supported is distinguished from damage")
    func versions() {
        func with(_ version: UInt32) -> [UInt8] {
            RecordFormat(mark: "SEtest", version: version, partCount: 3).bytes(of: parts)
        }
        #expect(format.content(of: with(1)) == .otherVersion)
        #expect(format.content(of: with(4)) == .otherVersion)
        #expect(read(with(2), format) == parts)
        #expect(RecordFormat(mark: "SEother", version: 3, partCount: 3).content(of: with(3)) == .damaged)
        #expect(RecordFormat(mark: "SEtest", version: 3, partCount: 2).content(of: with(3)) == .damaged)
    }

    @Test("Random bytes and huge sizes count as damage, and do not trap")
    func randomBytes() {
        var numbers = SeededNumbers(state: 1)
        let bytes = format.bytes(of: parts)
        for _ in 0..<5_000 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...12, using: &numbers) {
                changed[Int.random(in: 12..<changed.count, using: &numbers)] = UInt8.random(
                    in: 0...255, using: &numbers)
            }
            if changed != bytes { #expect(read(changed, format) == nil) }
        }
    }
}
