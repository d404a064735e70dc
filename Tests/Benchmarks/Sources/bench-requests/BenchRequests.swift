// Measures the cost that the data-request service adds to its parts, and reports which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-requests
//
// - a small GET through a service that is composed as in README.md, compared with the same request sent by a
//   CurlTransport: over the loopback interface, one at a time and 64 at a time;
// - a small GET over a transport that responds at once, which measures the service's own work;
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
            print(try await report(options).text)
        } catch {
            let line = Array("bench-requests: \(error)\n".utf8)
            _ = write(2, line, line.count)
            exit(2)
        }
    }

    private static func report(_ options: Options) async throws -> Table {
        let smoke = options.isSmoke ? "; smoke: the figures mean nothing" : ""
        var table = Table(
            "Data-request service",
            remark: "medians of \(options.rounds) rounds, of \(options.uploadRounds) for uploads\(smoke)")
        if options.parts.contains("null") { table.add(try await OwnCost.measure(options)) }
        if options.parts.contains("composition") { table.add(try await CompositionCost.measure(options)) }
        if options.parts.contains("json") {
            table.add(try await JSONCost.measure(options))
            table.add(try JSONValueCost.measure(options))
        }
        if options.parts.contains("definition") { table.add(try await DefinitionCost.measure(options)) }
        if options.parts.contains("upload") { table.add(try UploadCost.measure(options)) }
        return table
    }
}
