import EssentialsTestKit
import EssentialsTools
import FoundationEssentials
import ServiceEssentials
import TestTools
import Testing

@Suite("The article WhichPart", .timeLimit(.minutes(5)))
struct WhichPartTests {
    struct Film: Codable, Sendable, Equatable {
        var title: String
        var stars = 0
    }

    struct Rating: Codable, Sendable {
        var stars: Int
    }

    private let transport = ScriptedTransport()
    private let requests: HTTPDataRequestService
    private let environment: ConstantEnvironment

    init() throws {
        environment = try ConstantEnvironment("https://api.example.com/v1/")
        requests = HTTPDataRequestService(environment: environment, transport: transport)
        transport.on(.get, "/v1/films/7").answer(json: Film(title: "M"))
    }

    @Test("The article on the parts shows plain requests")
    func plain() async throws {
        transport.on(.patch, "/v1/films/7").answer(json: Film(title: "M", stars: 5))
        // Article begins
        let film: Film = try await requests.get("films/7")
        let rated: Film = try await requests.patch(
            "films/7", body: Rating(stars: 5))
        // Article ends
        #expect([film.stars, rated.stars] == [0, 5])
    }

    @Test("The article on the parts shows a definition")
    func definition() async throws {
        // Article begins
        enum FilmAPI: APIService {
            static func film(_ id: Int) -> APIRequest<Film> {
                request(.get, "films/\(id)")
            }
        }
        let film = try await requests.send(FilmAPI.film(7))
        // Article ends
        #expect(film == Film(title: "M"))
    }

    @Test("The article on the parts shows a resource")
    func resource() async throws {
        let resources = try HTTPResourceService(requests: requests, environment: environment)
        let shown = Mutex<[String?]>([])
        @Sendable func show(_ film: Film?, _ failure: String?) {
            shown.withLock { $0.append(film?.title ?? failure) }
        }
        let running = Task {
            // Article begins
            let film: Resource<Film> = resources.resource("films", "7")
            let content = try await film.loadIfNeeded()
            for await state in film.states(refreshing: .every(.seconds(60))) {
                show(state.content, state.failure?.message)
            }
            // Article ends
            #expect(content.title == "M")
        }
        while shown.withLock({ $0.isEmpty }) { try await Task.sleep(for: .milliseconds(1)) }
        running.cancel()
        try await running.value
        #expect(shown.withLock { $0.first } == "M")
        #expect(transport.requestCount == 1)
    }

    @Test("The article on the parts shows a fetch", arguments: [1, 2])
    func fetching(runs: Int) async throws {
        let folder = try ScratchDirectory()
        transport.on(.get, "/v1/films").answer(json: [Film(title: "M")])
        var shown: [Bool] = []
        func show(_ films: [Film], isStored: Bool) { shown.append(isStored) }
        for _ in 0..<runs {
            let cache = try ModelCache(directory: folder.path)
            // Article begins
            struct Films: FetchingService, ModelCaching {
                let requests: any DataRequestService
                let cache: any AsyncCache

                func all() -> Emissions<[Film]> {
                    get("films", from: .cacheThenBackend)
                }
            }
            for try await films in Films(requests: requests, cache: cache).all() {
                show(films.value, isStored: films.source == .cache)
            }
            // Article ends
            await cache.flush()
        }
        #expect(shown == (runs == 1 ? [false] : [false, true, false]))
    }
}
