import EssentialsTestKit
import ServiceEssentials
import Testing

@Suite("The article Pages")
struct PagesTests {
    // Article begins
    struct Film: Codable, Sendable, Identifiable {
        var id: Int
    }

    struct FilmList: Codable, Sendable {
        var films: [Film]
        var cursor: String?
    }
    // Article ends

    @Test("The article on pages shows how pages are found, loaded and loaded again")
    func pages() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/films").answer { request in
            let page = Int(request.queryItems.first { $0.name == "page" }?.value ?? "1") ?? 1
            return ScriptedAnswer(json: page > 3 ? [] : [Film(id: page)])
        }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let service = try HTTPResourceService(requests: requests, environment: environment)
        // Article begins
        let first: Resource<[Film]> = service.resource("films")
        let films = PagedResource(first, by: .number("page"))
        // Article ends
        func draw(_ films: [Film], _ isLoading: Bool, _ failure: String?) {}
        // Article begins
        for await state in films.states(loading: .ifNeeded) {
            draw(state.items, state.isLoading, state.failure?.message)
            if !state.items.isEmpty { break }
        }
        try await films.next()
        // Article ends
        #expect(films.state.items.map(\.id) == [1, 2])
        // Article begins
        try await films.refresh(.allThenSwap)
        // Article ends
        #expect(films.state.items.map(\.id) == [1, 2])
        // Article begins
        do throws(RequestFailure) {
            try await films.next()
        } catch {
            try await films.retry()
        }
        // Article ends
        #expect(films.state.items.map(\.id) == [1, 2, 3])

        // Article begins
        let lists: Resource<FilmList> = service.resource("film-lists")
        let byCursor = PagedResource(lists, by: .cursor("after") { $0.cursor }) {
            $0.films
        }
        let byLink = PagedResource(first, by: .link(), maximumPages: 10)
        // Article ends
        #expect(byCursor.state.hasNext && byLink.state.hasNext)
    }
}
