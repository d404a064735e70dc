import EssentialsCurl
import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

/// Blobs over a real connection.
@Suite("Blobs: over a connection", .timeLimit(.minutes(5)), .serialized)
struct BlobLoopbackTests {
    private func withBlobs(
        _ directory: BlobDirectory, maximumBytes: Int, handler: @escaping @Sendable (ServerRequest) -> ServerReply,
        _ body: (BlobService, LoopbackServer) async throws -> Void
    ) async throws {
        let server = try LoopbackServer(handler: handler)
        let environment = try ConstantEnvironment(server.url + "/v1")
        let requests = HTTPDataRequestService(environment: environment, transport: try CurlTransport())
        var configuration = BlobService.Configuration()
        configuration.maximumBytes = maximumBytes
        let blobs = try BlobService(
            requests: requests, environment: environment, directory: directory.path, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(blobs, server)) } catch { result = .failure(error) }
        await blobs.close()
        await requests.shutdown()
        server.stop()
        try result.get()
    }

    /// The peak memory of the process, in bytes.
    private static var peakMemory: Int {
        let text = (try? String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Int($0) } ?? 0) << 10
    }

    /// Resets the peak to the current size.
    private static func resetPeak() {
        let file = open("/proc/self/clear_refs", O_WRONLY)
        _ = write(file, "5", 1)
        close(file)
    }

    private static func residentMemory() -> Int {
        let text = (try? String(contentsOf: URL(filePath: "/proc/self/statm"), encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }

    /// The size in MiB that `ESSENTIALS_BLOB_MIB` sets, such as 1024, for a run of this suite alone. The memory of the
    /// process is checked only in such a run, because other suites that run at the same time need memory too.
    private static let chosenSize = getenv("ESSENTIALS_BLOB_MIB").flatMap { Int(String(cString: $0)) }
    private static let size = (chosenSize ?? 64) << 20

    @Test("A large blob is written to the disk as it arrives, and takes little memory")
    func large() async throws {
        let directory = BlobDirectory()
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let count = Self.size >> 20
        let reply: @Sendable (ServerRequest) -> ServerReply = { _ in
            .raw([
                .head(headers: [("Content-Length", "\(count << 20)"), ("ETag", "\"1\"")]),
                .repeatSend(piece, count: count), .keepAlive,
            ])
        }
        try await withBlobs(directory, maximumBytes: Self.size + (4 << 20), handler: reply) { blobs, server in
            Self.resetPeak()
            let before = Self.residentMemory()
            let file = try await blobs.file(at: "film")
            let peak = Self.peakMemory - before
            print("A blob of \(count) MiB took \(peak >> 20) MiB of memory.")
            #expect(Self.chosenSize == nil || peak < 40_000_000)
            #expect(file.size == Int64(Self.size))
            #expect(try await file.bytes(in: (file.size - 10)..<(file.size + 10)) == Data(repeating: 7, count: 10))
            let reopened = try OpenFile(file.path, O_RDONLY)
            #expect(try reopened.status().size == Int64(Self.size))
            #expect(directory.size <= Self.size + (4 << 20))
            let failure = await #expect(throws: RequestFailure.self) {
                try await blobs.bytes(at: "film", upTo: 1 << 20)
            }
            #expect(failure?.reason == .tooLarge)
            await blobs.removeAll()
            #expect(directory.names == [])
            // The file stays as long as it is used.
            #expect(try await file.bytes(in: 0..<3) == Data([7, 7, 7]))
            #expect(server.requestCount == 1)
        }
    }

    @Test("A blob whose transfer is interrupted is not stored, and the next one is whole")
    func interrupted() async throws {
        let directory = BlobDirectory()
        let count = Mutex(0)
        let piece = [UInt8](repeating: 7, count: 1 << 20)
        let reply: @Sendable (ServerRequest) -> ServerReply = { _ in
            let isFirst = count.withLock { count in
                count += 1
                return count == 1
            }
            return .raw([
                .head(headers: [("Content-Length", "\(3 << 20)")]),
                .repeatSend(piece, count: isFirst ? 2 : 3), isFirst ? .close : .keepAlive,
            ])
        }
        try await withBlobs(directory, maximumBytes: 8 << 20, handler: reply) { blobs, _ in
            let failure = await #expect(throws: RequestFailure.self) { try await blobs.bytes(at: "film") }
            #expect(failure?.reason == .interrupted)
            #expect(directory.names == [])
            let bytes = try await blobs.bytes(at: "film")
            #expect(bytes == Data(repeating: 7, count: 3 << 20))
        }
    }
}
