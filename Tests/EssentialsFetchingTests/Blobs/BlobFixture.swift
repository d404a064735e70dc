import EssentialsHTTP
import EssentialsStorage
import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import Glibc

@testable import EssentialsFetching
@testable import EssentialsRequests

/// A directory for blobs, which is removed at the end of a test.
final class BlobDirectory: Sendable {
    let path = "/tmp/essentials-blobs-\(getpid())-\(UInt64.random(in: .min ... .max))"

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// All names except those of the files of the directory itself, which contain no loaded data.
    var names: [String] {
        let own = [".numbers", ".removals", ".invalidations", ".index", FingerprintKeyFile.name]
        return allNames.filter { !own.contains($0) }
    }
    var allNames: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path))?.sorted() ?? [] }
    var bodies: [String] { names.filter { $0.hasSuffix(".body") } }
    var records: [String] { names.filter { $0.hasSuffix(".record") } }

    /// The size of all files of ``names``, in whole blocks.
    var size: Int {
        names.reduce(0) { sum, name in
            var status = stat()
            guard stat(path + "/" + name, &status) == 0 else { return sum }
            return sum + (Int(status.st_size) + 4_095) / 4_096 * 4_096
        }
    }

    func bytes(_ name: String) throws -> Data { try Data(contentsOf: URL(filePath: path + "/" + name)) }
    func write(_ data: Data, _ name: String) throws { try data.write(to: URL(filePath: path + "/" + name)) }
    func remove(_ name: String) { unlink(path + "/" + name) }
}

/// A blob service over a scripted transport and a clock that is moved by hand.
struct BlobFixture {
    /// The parts of the data-request service.
    struct Setup {
        var change: (inout HTTPDataRequestService.Configuration) -> Void = { _ in }
        var wrap: (ScriptedTransport) -> any Transport = { $0 }
    }

    let clock: ManualClock
    let directory: BlobDirectory
    let transport: ScriptedTransport
    let requests: HTTPDataRequestService
    let environment: MutableEnvironment
    let blobs: BlobService

    init(
        in directory: BlobDirectory = BlobDirectory(), clock: ManualClock = ManualClock(),
        open: (any DataRequestService)? = nil, calls: FileCalls = .system, concurrency: Int? = nil,
        setup: Setup = Setup(), _ change: (inout BlobService.Configuration) -> Void = { _ in }
    ) throws {
        (self.clock, self.directory) = (clock, directory)
        transport = ScriptedTransport(clock: clock)
        environment = MutableEnvironment(EnvironmentSnapshot(baseURL: try RequestURL("https://h/v1/")))
        var settings = HTTPDataRequestService.Configuration()
        settings.clock = clock.requestClock
        if let concurrency { settings.limits.concurrency = concurrency }
        setup.change(&settings)
        requests = HTTPDataRequestService(
            environment: environment, transport: setup.wrap(transport), configuration: settings)
        var configuration = BlobService.Configuration()
        change(&configuration)
        blobs = try BlobService(requests, environment, open, FileDirectory(directory.path, calls: calls), configuration)
    }

    /// The space that is reserved for blobs that are being written.
    var reserved: Int { blobs.files.cache.reserved }

    /// Bytes that differ from each other.
    static func bytes(_ count: Int, seed: UInt64 = 1) -> Data {
        var state = seed
        // Words instead of bytes, because sanitized code is slow.
        var words = [UInt64](repeating: 0, count: (count + 7) / 8)
        for index in words.indices {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            words[index] = state ^ (state >> 33)
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }

    /// Bytes in pieces, as they arrive.
    static func pieces(_ data: Data, of size: Int = 256 << 10) -> [ScriptedPiece] {
        stride(from: 0, to: data.count, by: size).map { .bytes(Data(data[$0..<min($0 + size, data.count)])) }
    }
}
