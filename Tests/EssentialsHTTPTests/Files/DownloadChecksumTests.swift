import EssentialsHTTP
import FoundationEssentials
import TestTools
import Testing

@Suite struct DownloadChecksumTests {
    private typealias Response = ScriptedTransport.Response

    /// A hash that needs no library: FNV-1a with 64 bits.
    private final class Fowler: IncrementalHash {
        private var state: UInt64 = 0xcbf2_9ce4_8422_2325

        func update(_ bytes: UnsafeRawBufferPointer) {
            for byte in bytes { state = (state ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }

        func finish() -> [UInt8] { (0..<8).map { UInt8(truncatingIfNeeded: state >> (56 - 8 * $0)) } }
    }

    private func options(_ text: String, resumes: Bool = false) -> DownloadOptions {
        let hash = Fowler()
        Array(text.utf8).withUnsafeBytes { hash.update($0) }
        var options = DownloadOptions.replacing
        options.resumes = resumes
        options.checksum = Checksum(name: "fnv-1a", expected: hash.finish()) { Fowler() }
        return options
    }

    @Test("The test's hash function is correct")
    func vector() {
        // A test vector of the algorithm's authors.
        #expect(options("a").checksum?.expected == [0xaf, 0x63, 0xdc, 0x4c, 0x86, 0x01, 0xec, 0x8c])
    }

    @Test("A file with the expected checksum is moved to its destination", arguments: ["", "abcd"])
    func right(text: String) async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [:], text.map(String.init)))
        _ = try await transport.download(.film(), to: directory("film"), options: options(text))
        #expect(directory.text("film") == text)
    }

    @Test("A file with another checksum is removed, and the failure contains both checksums", arguments: [false, true])
    func wrong(resumes: Bool) async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        let transport = ScriptedTransport(Response(200, [.eTag: "\"v1\""], ["ab", "cd"]))
        let failure = await #expect(throws: RequestFailure.self) {
            try await transport.download(.film(), to: directory("film"), options: options("a", resumes: resumes))
        }
        #expect(failure?.reason == .file)
        #expect(failure?.message.contains("af63dc4c8601ec8c") == true)
        #expect(failure?.message.contains("fnv-1a") == true)
        #expect(failure?.message.contains("fc179f83ee0724dd") == true)
        #expect(directory.text("film") == "old")
        #expect(try directory.names == ["film"])
    }

    /// The content of a partial file that is larger than the chunks and slices in which it is hashed.
    private static let part = String(repeating: "0123456789abcdef", count: 70_000)

    private func breakOff(_ directory: ScratchDirectory, _ options: DownloadOptions) async {
        let transport = ScriptedTransport(
            Response(200, [.eTag: "\"v1\""], [Self.part], failure: RequestFailure(.interrupted, "It ended.")))
        await #expect(throws: RequestFailure.self) {
            try await transport.download(.film(), to: directory("film"), options: options)
        }
    }

    @Test("A resumed download hashes the partial file too")
    func resumed() async throws {
        let directory = try ScratchDirectory()
        let options = options(Self.part + "xyz", resumes: true)
        await breakOff(directory, options)
        let end = Self.part.utf8.count
        let transport = ScriptedTransport(Response(206, [.contentRange: "bytes \(end)-\(end + 2)/\(end + 3)"], ["xyz"]))
        let file = try await transport.download(.film(), to: directory("film"), options: options)
        #expect(file.resumedFrom == Int64(end))
    }

    @Test("A download that starts again does not hash the old partial file")
    func anew() async throws {
        let directory = try ScratchDirectory()
        let options = options("xyz", resumes: true)
        await breakOff(directory, options)
        let transport = ScriptedTransport(Response(200, [:], ["xyz"]))
        #expect(try await transport.download(.film(), to: directory("film"), options: options).bytes == 3)
    }

    @Test("A partial file that is already complete is checked too")
    func complete() async throws {
        let directory = try ScratchDirectory()
        let options = options(Self.part, resumes: true)
        await breakOff(directory, options)
        let size = Self.part.utf8.count
        let complete = Response(416, [.contentRange: "bytes */\(size)"])
        _ = try await ScriptedTransport(complete).download(.film(), to: directory("film"), options: options)
        await breakOff(directory, options)
        await #expect(throws: RequestFailure.self) {
            try await ScriptedTransport(complete).download(
                .film(), to: directory("film"), options: self.options("a", resumes: true))
        }
        #expect(try directory.names == ["film"])
    }
}
