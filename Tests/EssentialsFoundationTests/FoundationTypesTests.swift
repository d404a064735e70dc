import EssentialsFoundation
import EssentialsTestKit
import Foundation
import ServiceEssentials
import Testing

@Suite("Foundation's types")
struct FoundationTypesTests {
    @Test("A request URL is created from Foundation's URL and converted back")
    func urls() throws {
        let url = try #require(URL(string: "https://Example.com:443/a%20b?x=1#fragment"))
        let read = try RequestURL(url)
        #expect(read.description == "https://example.com/a%20b?x=1")
        #expect(URL(read)?.absoluteString == "https://example.com/a%20b?x=1")
        let relative = try #require(URL(string: "c?d", relativeTo: url))
        #expect(try RequestURL(relative).description == "https://example.com/c?d")
    }

    @Test(
        "A URL that cannot be requested is refused",
        arguments: ["ftp://example.com/", "file:///tmp/x", "https://u:secret@example.com/", "mailto:a@b", "/path"])
    func refused(text: String) throws {
        let url = try #require(URL(string: text))
        let failure = #expect(throws: RequestFailure.self) { try RequestURL(url) }
        #expect(failure?.reason == .invalidRequest)
        #expect(failure?.description.contains("secret") == false)
    }

    @Test("An environment is created from Foundation's URL")
    func environments() throws {
        let url = try #require(URL(string: "https://example.com/v1/"))
        let environment = try ConstantEnvironment(url, name: "live", headerFields: [.acceptLanguage: "en"])
        #expect(environment.baseURL.description == "https://example.com/v1/")
        #expect(environment.name == "live")
        #expect(try EnvironmentSnapshot(baseURL: url).baseURL == environment.baseURL)
    }

    @Test("File URLs name files to download and send, and other URLs are refused")
    func files() async throws {
        let transport = ScriptedTransport()
        transport.on(.get, "/v1/film", fileID: "T.swift", line: 1).answer(text: "film")
        transport.on(.put, "/v1/film", fileID: "T.swift", line: 2).answer()
        let service = HTTPDataRequestService(
            environment: try ConstantEnvironment("https://example.com/v1/"), transport: transport)
        let folder = FileManager.default.temporaryDirectory.appending(path: "essentials \(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let destination = folder.appending(path: "ä b%20.mp4")
        let file = try await service.download("film", to: destination)
        #expect(file.url.standardizedFileURL == destination.standardizedFileURL)
        #expect(try Data(contentsOf: file.url) == Data("film".utf8))
        var replacing = DownloadOptions()
        replacing.existing = .replace
        try await service.download(DataRequest(.get, "film"), to: destination, options: replacing)
        try await service.send(DataRequest(.put, "film", body: .file(destination)))
        #expect(try RequestBody.file(destination).isReplayable)

        let web = try #require(URL(string: "https://example.com/x?secret"))
        let failure = await #expect(throws: RequestFailure.self) { try await service.download("film", to: web) }
        #expect(failure?.reason == .file)
        #expect(failure?.description.contains("secret") == false)
        #expect(throws: RequestFailure.self) { try RequestBody.file(web) }
    }

    @Test("A body is created from Foundation's Data")
    func data() {
        let data: Foundation.Data = NSMutableData(data: Data("x".utf8)) as Data
        #expect(RequestBody.bytes(data).isReplayable)
    }
}
