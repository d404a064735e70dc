// Measures the cost that the data-request service adds to its parts, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-requests
//
// - a small GET through a service that is composed as in README.md, compared with the same request sent by a
//   CurlTransport: over the loopback interface, one at a time and 64 at a time;
// - a small GET over a transport that responds at once, which measures the service's own work;
// - the same GET with each stage on and nothing for it to do; allocations over the goals are a failure;
//   metrics and traces with a backend are measured too if BENCHMARK_SERVER=1 is set while it is built and resolved;
// - the same with an inspector, which a page follows or not, and a report of 500 requests;
// - a JSON array of 1 MB decoded by the service, compared with JSONDecoder;
// - a JSON object of 1 MB read as JSONValue, compared with JSONDecoder and a known type, and a
//   document 512 levels deep;
// - a request built from a definition, compared with URLComponents and URLRequest;
// - a file of 1 GiB sent as a multipart body, compared with bench-limit, a C program on libcurl
//   that sends the plain file.
//
// The sides alternate in one run, and the medians of their rounds are shown, because absolute figures drift with the
// machine. It requires bench-server and bench-limit in the same directory. With `--url` it is the client that sends the
// file, with the arguments of the load clients.

internal import Figures
internal import Glibc

@main
struct BenchRequests {
    static func main() async {
        do {
            let arguments = Array(CommandLine.arguments.dropFirst())
            if arguments.contains("--url") { exit(try await UploadClient.run()) }
            guard let options = try Options.parse(arguments) else {
                print(Options.help)
                return
            }
            if let count = options.sentOnly { return try await CountedRequests.run(count) }
            let rows = try await rows(options)
            let smoke = options.isSmoke ? "; smoke: the times mean nothing" : ""
            var table = Table(
                "Data-request service",
                remark: "medians of \(options.rounds) rounds, of \(options.uploadRounds) for uploads\(smoke)")
            table.add(rows)
            print(table.text)
            let missed = rows.filter { $0.isJudged && !$0.isMet }
            for row in missed { print("over its goal: \(row.what)") }
            if !missed.isEmpty { exit(1) }
        } catch {
            let line = Array("bench-requests: \(error)\n".utf8)
            _ = write(2, line, line.count)
            exit(2)
        }
    }

    private static func rows(_ options: Options) async throws -> [Row] {
        var rows: [Row] = []
        if options.parts.contains("null") { rows += try await OwnCost.measure(options) }
        if options.parts.contains("stages") { rows += try await StageCost.measure(options) }
        if options.parts.contains("composition") { rows += try await CompositionCost.measure(options) }
        if options.parts.contains("inspector") { rows += try await InspectorCost.measure(options) }
        if options.parts.contains("json") {
            rows += try await JSONCost.measure(options)
            rows += try JSONValueCost.measure(options)
        }
        if options.parts.contains("definition") { rows += try await DefinitionCost.measure(options) }
        if options.parts.contains("upload") { rows += try UploadCost.measure(options) }
        return rows
    }
}
