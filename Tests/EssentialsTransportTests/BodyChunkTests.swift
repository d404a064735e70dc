import EssentialsTransport
import FoundationEssentials
import Synchronization
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
}
