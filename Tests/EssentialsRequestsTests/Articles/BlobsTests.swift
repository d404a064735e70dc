import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article Blobs")
struct BlobsTests {
    private struct Coin: Sendable { let pictureURL = "https://pictures.example.com/1.png" }

    private struct Picture: Sendable, Equatable {
        let text: String
        init(decoding bytes: Data) throws { text = String(decoding: bytes, as: UTF8.self) }
    }

    private struct Film: Codable, Sendable, Equatable { var title: String }

    private enum Films: APIService {
        static let catalogue: APIRequest<[Film]> = request(.get, "films.json")
        static func poster(id: Int) -> APIRequest<Data> { request(.get, "films/\(id).png") }
    }

    @Test("The article on blobs shows those of definitions")
    func definitions() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/films.json").answer(json: [Film(title: "Metropolis")])
        transport.on(.get, "/v1/films/7.png").answer(text: "poster")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let blobs = try BlobService(requests: requests, environment: environment, directory: directory)
        // Article begins
        // [Film], decoded by the codecs of the definition
        let catalogue = try await blobs.value(of: Films.catalogue)
        let poster = try await blobs.value(of: Films.poster(id: 7)) {
            try Picture(decoding: $0)
        }
        // Article ends
        #expect(catalogue == [Film(title: "Metropolis")])
        #expect(poster == (try Picture(decoding: Data("poster".utf8))))
        await blobs.close()
    }

    @Test("The article on blobs shows values, bytes and files, and what is stored")
    func blobs() async throws {
        let directory = "/tmp/essentials-article-\(UInt64.random(in: .min ... .max))"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let environment = try ConstantEnvironment("https://api.example.com/v1/")
        let (transport, other) = (ScriptedTransport(), ScriptedTransport())
        transport.on(.get, "/v1/logos/1.png").answer(text: "logo")
        transport.on(.get, "/v1/films/7.mp4").answer(
            data: Data(repeating: 7, count: 2_000), headerFields: [.contentType: "video/mp4"])
        other.on(.get, "/1.png").answer(text: "picture")
        let requests = HTTPDataRequestService(environment: environment, transport: transport)
        let open = HTTPDataRequestService.forAnyServer(over: other)
        // Article begins
        var configuration = BlobService.Configuration()
        configuration.maximumBytes = 512 << 20
        configuration.foreignHosts = ["pictures.example.com"]
        let blobs = try BlobService(
            requests: requests, environment: environment, open: open,
            directory: directory, configuration: configuration
        )
        // Article ends
        let coin = Coin()

        // Article begins
        let picture = try await blobs.value(at: coin.pictureURL) {
            try Picture(decoding: $0)
        }
        // Article ends
        #expect(picture == (try Picture(decoding: Data("picture".utf8))))

        // Article begins
        let bytes = try await blobs.bytes(
            at: "logos/1.png", upTo: 1 << 20, priority: .interactive)
        // Article ends
        #expect(bytes == Data("logo".utf8))

        var played: [String?] = []
        func play(_ path: String, _ mediaType: String?) { played.append(mediaType) }
        // Article begins
        let film = try await blobs.file(at: "films/7.mp4")
        play(film.path, film.mediaType)
        let beginning = try await film.bytes(in: 0..<1_024)
        // Article ends
        #expect(played == ["video/mp4"] && beginning == Data(repeating: 7, count: 1_024))
        #expect(await blobs.usage.count == 3)

        var reported: [Int] = []
        func report(_ bytes: Int, _ problems: Int) { reported = [bytes, problems] }
        // Article begins
        try await blobs.remove(at: coin.pictureURL)
        await blobs.removeAll()
        report(await blobs.usage.bytes, blobs.problems.count)
        // Article ends
        #expect(reported == [0, 0])
        await blobs.close()
    }
}
