internal import EssentialsFetching
internal import Figures
internal import FoundationEssentials
internal import Glibc

/// The cost of what is on the disk: the entries of an outbox, and blobs.
enum StoringCost {
    static func measure(_ scale: Scale) async throws -> [Row] {
        // A directory that is not in memory on most systems.
        let directory = "/var/tmp/essentials-bench-\(getpid())"
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        return try await outbox(scale, directory) + blobs(scale, directory)
    }

    private static func outbox(_ scale: Scale, _ directory: String) async throws -> [Row] {
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let requests = try Fixture().requests
        func open(_ partition: EntityPartition?) throws -> Outbox {
            try Outbox(
                directory: directory + "/outbox", requests: requests, environment: environment, partition: partition)
        }
        let outbox = try open(.shared)
        outbox.pause()
        try await outbox.open()
        let count = scale.isSmoke ? 100 : 1_000
        let rounds = 10
        var size = 0
        let file = try File(directory + "/reference", O_WRONLY | O_CREAT | O_APPEND)
        var (entries, writes): ([Double], [Double]) = ([], [])
        for round in 0..<rounds {
            let added = try await elapsed(of: count / rounds) {
                for number in 0..<count / rounds {
                    try await outbox.add(
                        DataRequest(.post, "views", parameters: ["id": round * count + number]))
                }
            }
            if size == 0 { size = try await outbox.entries.first?.byteCount ?? 0 }
            let bytes = [UInt8](repeating: 7, count: size)
            let written = try await elapsed(of: count / rounds) {
                for _ in 0..<count / rounds {
                    guard write(file.descriptor, bytes, size) == size, fdatasync(file.descriptor) == 0 else {
                        throw BenchmarkError("the reference could not be written")
                    }
                }
            }
            entries.append(added.nanoseconds)
            writes.append(written.nanoseconds)
        }
        await outbox.close()
        var reloads: [Double] = []
        for _ in 0..<scale.rounds {
            // Without a partition nothing is sent.
            let outbox = try open(nil)
            reloads.append(try await elapsed(of: 1) { try await outbox.open() }.nanoseconds)
            guard try await outbox.entries.count == count else { throw BenchmarkError("entries are missing") }
            await outbox.close()
        }
        return [
            Row(
                what: "an outbox entry of \(size) bytes on the disk", value: median(entries) / 1000, unit: "us",
                digits: 1),
            Row(
                what: "    share of write and fdatasync", value: median(entries) / median(writes), unit: "",
                digits: 2, goal: .atMost(2)),
            Row(
                what: "\(count) entries read after a restart", value: median(reloads) / 1e6, unit: "ms", digits: 2,
                goal: .atMost(50)),
        ]
    }

    private static func blobs(_ scale: Scale, _ directory: String) async throws -> [Row] {
        let size = 64 << 10
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let head = HTTPResponse(
            status: .ok, headerFields: [.contentType: "image/png", .cacheControl: "max-age=86400"])
        let transport = InstantTransport(
            response: TransportResponse(head, body: ResponseBody(Data(repeating: 7, count: size))))
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let blobs = try BlobService(requests: requests, environment: environment, directory: directory + "/blobs")
        let url = "https://api.example.com/v1/pictures/7.png"
        _ = try await blobs.bytes(at: url)
        // The path names the blob's open file, which is closed with the last copy of the value.
        let blob = try await blobs.file(at: url)
        let file = try withExtendedLifetime(blob) { try File(blob.path, O_RDONLY) }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        defer { buffer.deallocate() }
        let count = scale.isSmoke ? 100 : 2_000
        var (hits, reads): ([Cost], [Double]) = ([], [])
        for round in 0...scale.rounds {
            let hit = try await elapsed(of: count) {
                for _ in 0..<count {
                    let bytes = try await blobs.bytes(at: url)
                    guard bytes.count == size else { throw BenchmarkError("a blob is missing") }
                }
            }
            let read = try await elapsed(of: count) {
                for _ in 0..<count {
                    guard pread(file.descriptor, buffer.baseAddress, size, 0) == size else {
                        throw BenchmarkError("the file of the blob could not be read")
                    }
                }
            }
            guard round > 0 else { continue }
            hits.append(hit)
            reads.append(read.nanoseconds)
        }
        let hit = Cost.medians(hits)
        return [
            Row(what: "a stored blob of 64 KiB", value: hit.nanoseconds / 1000, unit: "us", digits: 2),
            Row(
                what: "    share of read", value: hit.nanoseconds / median(reads), unit: "", digits: 2,
                goal: .atMost(2)),
            Row(what: "    allocations", value: hit.allocations, unit: "", digits: 1),
        ]
    }

    /// An open file.
    private final class File {
        let descriptor: Int32

        init(_ path: String, _ flags: Int32) throws {
            descriptor = open(path, flags, 0o600)
            guard descriptor >= 0 else { throw BenchmarkError("\(path) could not be opened") }
        }

        deinit { close(descriptor) }
    }
}
