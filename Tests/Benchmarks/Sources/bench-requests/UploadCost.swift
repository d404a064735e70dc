internal import Figures
internal import FoundationEssentials
internal import Glibc

/// A large file as a part of a multipart body, compared with libcurl sending the plain file.
enum UploadCost {
    /// The report of a load client; see `measurement_report`.
    private struct Measurement: Decodable {
        let seconds: Double
        let cpuSeconds: Double
        let maxRSSkB: Double
    }

    static func measure(_ options: Options) throws -> [Row] {
        let file = try TemporaryFile(bytes: options.uploadMiB << 20)
        defer { file.remove() }
        let server = try ChildServer.start()
        defer { server.stop() }
        var (limit, ours): ([Measurement], [Measurement]) = ([], [])
        for round in 0..<options.uploadRounds {
            // The order alternates, so that a drift during a round is compensated by the next one.
            if round.isMultiple(of: 2) { limit.append(try upload("bench-limit", file, server)) }
            ours.append(try upload("bench-requests", file, server))
            if !round.isMultiple(of: 2) { limit.append(try upload("bench-limit", file, server)) }
        }
        let gigabytes = Double(options.uploadMiB << 20) / 1e9
        return [
            Row(
                what: "upload of \(options.uploadMiB) MiB by libcurl alone",
                value: gigabytes / median(limit.map(\.seconds)),
                unit: "GB/s", digits: 2),
            Row(
                what: "    as multipart by the service", value: gigabytes / median(ours.map(\.seconds)), unit: "GB/s",
                digits: 2),
            Row(
                what: "    the service's share of the limit",
                value: median(zip(limit, ours).map { $0.seconds / $1.seconds }),
                unit: "times", digits: 2, goal: .atLeast(0.9)),
            Row(
                what: "    CPU time beside the limit's",
                value: median(zip(limit, ours).map { $1.cpuSeconds / $0.cpuSeconds }),
                unit: "times", digits: 2),
            Row(
                what: "    peak memory", value: median(ours.map(\.maxRSSkB)) / 1024, unit: "MB", digits: 1,
                goal: .atMost(40)),
        ]
    }

    private static func upload(
        _ program: String, _ file: TemporaryFile, _ server: ChildServer
    ) throws -> Measurement {
        let output = try ChildProgram.output(
            of: program,
            [
                "--url", "http://127.0.0.1:\(server.port)/", "--upload", file.path, "--concurrency", "1", "--requests",
                "1", "--warmup", "1",
            ])
        guard let measurement = try? JSONDecoder().decode(Measurement.self, from: Data(output)) else {
            throw BenchmarkError("\(program) said no figures")
        }
        return measurement
    }
}

/// A sparse file of zeros.
private struct TemporaryFile {
    let path: String

    init(bytes: Int) throws(BenchmarkError) {
        let directory = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(directory)/bench-requests.XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw BenchmarkError("no temporary file in \(directory): \(errno)") }
        defer { close(descriptor) }
        path = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard ftruncate(descriptor, bytes) == 0 else {
            remove()
            throw BenchmarkError("no file of \(bytes) bytes in \(directory): \(errno)")
        }
    }

    func remove() { unlink(path) }
}
