internal import EssentialsHTTP
internal import EssentialsRequests
internal import Figures
internal import FoundationEssentials
internal import FoundationNetworking

/// The cost of building a request from a definition, compared with `URLComponents` and `URLRequest`.
///
/// Both sides make a URL of 3 path components and 3 query items, and 3 header fields, from values that the compiler
/// does not know.
enum DefinitionCost {
    private enum Shop: APIService {
        static let baseURL: RequestBase = "https://shop.example.com/v1/"
    }

    private enum Films: Endpoint {
        typealias Parent = Shop
        static let path: RequestPath = "films"

        static func find(_ values: Values) -> APIRequest<Data> {
            request(.get) {
                RequestPath {
                    values.genre
                    values.id
                }
                RequestQuery {
                    ("language", values.language)
                    ("page", values.page)
                    ("sort", "title")
                }
                RequestHeaders {
                    RequestHeader.accept(.json)
                    ("X-Tenant", values.tenant)
                    ("X-Request-ID", values.genre)
                }
            }
        }
    }

    private struct Values {
        var genre = "drama"
        var id = 4711
        var language = "de"
        var page = 2
        var tenant = "acme"
    }

    static func measure(_ options: Options) async throws -> [Row] {
        let count = options.isSmoke ? 100 : 20_000
        var values = Values()
        var (urls, builds, peers): ([OwnCost.Sample], [OwnCost.Sample], [OwnCost.Sample]) = ([], [], [])
        for round in 0...options.rounds {
            values.page = round
            let current = values
            let url = try await OwnCost.sample(count) { () async throws in
                let definition = Films.find(current)
                consume(Made(url: try definition.url(), fields: try definition.headerFields))
            }
            let build = try await OwnCost.sample(count) { () async throws in
                consume(Built(request: try Films.find(current).build()))
            }
            let peer = try await OwnCost.sample(count) { () async throws in
                consume(Peer(request: try peerRequest(current)))
            }
            // The first round includes the creation of metadata and page faults.
            guard round > 0 else { continue }
            urls.append(url)
            builds.append(build)
            peers.append(peer)
        }
        return rows("definition with 3 components, 3 items, 3 fields: URL and fields", urls, isJudged: true)
            + rows("    the request for the service", builds) + rows("    URLComponents and URLRequest", peers)
            + [
                Row(
                    what: "    share of the time of URLComponents and URLRequest",
                    value: median(zip(urls, peers).map { $0.nanoseconds / $1.nanoseconds }), unit: "times", digits: 3)
            ]
    }

    private static func rows(_ what: String, _ samples: [OwnCost.Sample], isJudged: Bool = false) -> [Row] {
        [
            Row(
                what: what, value: median(samples.map(\.nanoseconds)) / 1000, unit: "us", digits: 2,
                goal: isJudged ? .atMost(2) : .none),
            Row(
                what: "        allocations", value: median(samples.map(\.allocations)), unit: "", digits: 1,
                goal: isJudged ? .atMost(12) : .none),
        ]
    }

    private static func peerRequest(_ values: Values) throws -> URLRequest {
        guard var components = URLComponents(string: "https://shop.example.com/v1/") else {
            throw BenchmarkError("the base URL is invalid")
        }
        components.path += "films/\(values.genre)/\(values.id)"
        components.queryItems = [
            URLQueryItem(name: "language", value: values.language),
            URLQueryItem(name: "page", value: "\(values.page)"),
            URLQueryItem(name: "sort", value: "title"),
        ]
        guard let url = components.url else { throw BenchmarkError("the URL is invalid") }
        var request = URLRequest(url: url)
        request.httpMethod = "GET"
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        request.setValue(values.tenant, forHTTPHeaderField: "X-Tenant")
        request.setValue(values.genre, forHTTPHeaderField: "X-Request-ID")
        return request
    }

    private struct Made {
        let url: RequestURL
        let fields: HTTPFields
    }

    private struct Built {
        let request: DataRequest
    }

    private struct Peer {
        let request: URLRequest
    }

    @inline(never)
    private static func consume(_ value: some Any) {}
}
