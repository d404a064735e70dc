// Measures what the data-request service costs beside its parts alone, and says which goals are met.
//
//     cd Tests/Benchmarks
//     swift build -c release && .build/release/bench-requests
//
// - a small GET through a service that is made as README.md shows it, beside the same request given to a CurlTransport:
//   over the loopback interface, one at a time and 64 at a time;
// - the same over a transport that responds at once, which counts the service's own work;
// - a JSON array of 1 MB read by the service beside JSONDecoder alone;
// - a JSON object of 1 MB read as JSONValue beside JSONDecoder with a known type, and a document 512 levels deep;
// - a file of 1 GiB sent as a multipart body beside bench-limit, a C program on libcurl alone, that sends it as it is.
//
// The sides take turns in one run, and the medians of their rounds are shown, because absolute figures drift with the
// machine. Needs bench-server and bench-limit built beside it. Given `--url` it is the client that sends the file, with
// the arguments of the load clients.

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
        var table = Table(options)
        if options.parts.contains("null") { table.add(try await OwnCost.measure(options)) }
        if options.parts.contains("composition") { table.add(try await CompositionCost.measure(options)) }
        if options.parts.contains("json") {
            table.add(try await JSONCost.measure(options))
            table.add(try JSONValueCost.measure(options))
        }
        if options.parts.contains("upload") { table.add(try UploadCost.measure(options)) }
        return table
    }
}
