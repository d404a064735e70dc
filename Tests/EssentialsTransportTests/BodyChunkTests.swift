import EssentialsTools
import EssentialsTransport
import FoundationEssentials
import Testing

@Suite struct BodyChunkTests {
    @Test("A chunk returns the bytes that it copied", arguments: [0, 1, 3, 70_000])
    func copy(count: Int) {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let chunk = BodyChunk(bytes)
        #expect(chunk.count == count)
        #expect(chunk.array == bytes)
        #expect(chunk.data == Data(bytes))
        #expect(chunk.withUnsafeBytes { Array($0) } == bytes)
    }

    @Test("A chunk is created from any collection of bytes")
    func collections() {
        #expect(BodyChunk("abc".utf8).array == Array("abc".utf8))
        #expect(BodyChunk(Data([9, 8, 7])[1...]).array == [8, 7])
        #expect(BodyChunk((UInt8(1)...3).lazy.map { $0 * 2 }).array == [2, 4, 6])
    }

    @Test("Adopted memory is released once, with the last copy of the chunk")
    func adopted() {
        let releases = Mutex(0)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 2, alignment: 1)
        memory.copyBytes(from: [5, 6])
        let address = UInt(bitPattern: memory.baseAddress)
        var chunks = [
            BodyChunk(adopting: UnsafeRawBufferPointer(memory)) { pointer in
                #expect(UInt(bitPattern: pointer) == address)
                pointer.deallocate()
                releases.withLock { $0 += 1 }
            }
        ]
        chunks.append(chunks[0])
        #expect(chunks[1].array == [5, 6])
        chunks.removeFirst()
        #expect(releases.withLock { $0 } == 0)
        chunks.removeAll()
        #expect(releases.withLock { $0 } == 1)
    }

    @Test("An error of the reading closure is thrown")
    func throwing() throws {
        let failure = try #require(throws: RequestFailure.self) {
            try BodyChunk([1]).withUnsafeBytes { _ throws(RequestFailure) in throw RequestFailure(.file, "No.") }
        }
        #expect(failure.reason == .file)
    }

    @Test("A chunk and each of its slices are collections of their bytes", arguments: [0, 1, 2, 70_000])
    func collection(count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        let chunk = BodyChunk(bytes)
        #expect(chunk.elementsEqual(bytes))
        #expect(Array(chunk.reversed()) == bytes.reversed())
        #expect(chunk.indices == bytes.indices)
        #expect(chunk.reduce(0) { $0 + Int($1) } == bytes.reduce(0) { $0 + Int($1) })
        #expect(try #require(chunk.withContiguousStorageIfAvailable { Array($0) }) == bytes)
        #expect(Array(chunk) == bytes)
        #expect(Data(chunk) == Data(bytes))
        for lower in stride(from: 0, through: count, by: max(1, count / 3)) {
            let (slice, expected) = (chunk[lower...], bytes[lower...])
            #expect(slice.startIndex == expected.startIndex && slice.endIndex == expected.endIndex)
            #expect(slice.count == expected.count)
            #expect(Array(slice) == Array(expected))
            #expect(slice.array == Array(expected) && slice.data == Data(expected))
            #expect(slice.dropFirst().first == expected.dropFirst().first)
            #expect(slice.withUnsafeBytes { Array($0) } == Array(expected))
            #expect(BodyChunk(slice) == slice && BodyChunk(slice).startIndex == 0)
        }
    }

    @Test("A slice keeps the memory of its chunk alive, without a copy")
    func slices() throws {
        let isReleased = Mutex(false)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 5, alignment: 1)
        memory.copyBytes(from: [1, 2, 3, 4, 5])
        let address = try #require(memory.baseAddress)
        var slice: BodyChunk? =
            BodyChunk(adopting: UnsafeRawBufferPointer(memory)) { pointer in
                pointer.deallocate()
                isReleased.withLock { $0 = true }
            }[1..<4]
        #expect(slice?.withUnsafeBytes { $0.baseAddress } == UnsafeRawPointer(address + 1))
        #expect(slice.map { Array($0.dropLast()) } == [2, 3])
        #expect(!isReleased.withLock { $0 })
        slice = nil
        #expect(isReleased.withLock { $0 })
    }

    @Test("Chunks are equal if their bytes are equal, whatever their indices")
    func equality() {
        let chunk = BodyChunk("abcabc".utf8)
        #expect(chunk[..<3] == chunk[3...])
        #expect(chunk[3...] == BodyChunk("abc".utf8))
        #expect(chunk[..<3] != chunk[1..<4] && chunk[..<3] != chunk[..<2])
        #expect(Set([chunk[..<3], chunk[3...], BodyChunk("abc".utf8), chunk]).count == 2)
        #expect(BodyChunk([]) == chunk[2..<2])
    }

    @Test("Generic algorithms of the standard library and of Data accept a chunk")
    func algorithms() throws {
        let chunk = BodyChunk("one\ntwo\n".utf8)
        let lines = chunk.split(separator: UInt8(ascii: "\n"))
        #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["one", "two"])
        #expect(chunk.starts(with: "one".utf8))
        #expect(chunk.firstRange(of: Data("two".utf8)) == 4..<7)
        #expect(chunk.regions.count == 1)
        var data = Data("0".utf8)
        data.append(contentsOf: chunk[..<3])
        #expect(data == Data("0one".utf8))
        func count(_ bytes: some ContiguousBytes) -> Int { bytes.withUnsafeBytes { $0.count } }
        #expect(count(chunk) == 8)
    }

    @Test("A chunk shows its size and none of its bytes")
    func redaction() {
        let chunk = BodyChunk("secret".utf8)
        var dumped = ""
        dump(chunk, to: &dumped)
        #expect("\(chunk)" == "6 bytes" && String(reflecting: chunk) == "6 bytes")
        #expect(!dumped.contains("115") && !dumped.contains("secret"))
    }

    @Test("Large chunks share their memory as data, and small ones are copied", arguments: [0, 100, 16 << 10, 200_000])
    func sharing(count: Int) throws {
        let chunk = BodyChunk((0..<count).map { UInt8(truncatingIfNeeded: $0) })
        let address = chunk.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) } }
        var data = chunk.sharedData
        #expect(data == chunk.data)
        let shared = data.withUnsafeBytes { $0.baseAddress.map { UInt(bitPattern: $0) } } == address
        #expect(shared == (count >= 16 << 10) || count == 0)
        // A part of a large chunk does not keep the memory of the chunk alive.
        #expect(chunk[..<(count / 3)].sharedData == chunk.data.prefix(count / 3))
        data = Data()
        #expect(chunk.count == count)
    }
}
