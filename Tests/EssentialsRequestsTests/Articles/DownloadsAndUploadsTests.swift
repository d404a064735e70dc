import Dispatch
import EssentialsTestKit
import FoundationEssentials
import ServiceEssentials
import Testing

@Suite("The article DownloadsAndUploads")
struct DownloadsAndUploadsTests {
    /// A service with its server and a folder that is removed afterwards.
    private struct Place {
        let requests: HTTPDataRequestService
        let server: LoopbackServer
        let folder: String

        func content(_ path: String) throws -> String {
            String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
        }

        var names: [String] {
            get throws { try FileManager.default.contentsOfDirectory(atPath: folder).sorted() }
        }
    }

    private func withPlace(
        _ handler: @escaping @Sendable (ServerRequest) -> ServerReply, _ body: (Place) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = try LoopbackServer(handler: handler)
        let service = try HTTPDataRequestService(environment: ConstantEnvironment(server.url + "/v1/"))
        do {
            try await body(Place(requests: service, server: server, folder: folder.path))
        } catch {
            await service.shutdown()
            throw error
        }
        await service.shutdown()
    }

    @Test("The article on downloads shows a file and its progress as a stream")
    func download() async throws {
        try await withPlace({ _ in .response(body: "film") }) { place in
            let (requests, destination) = (place.requests, place.folder + "/1.mp4")
            let (fractions, fraction) = AsyncStream.makeStream(of: Double.self)
            @Sendable func show(_ part: Double) { fraction.yield(part) }

            // Article begins
            let file = try await requests.download("films/1", to: destination)
            print(file.bytes, file.headerFields[.contentType] ?? "-")
            // Article ends
            #expect(file.bytes == 4)
            #expect(try place.content(destination) == "film")
            try FileManager.default.removeItem(atPath: destination)

            // Article begins
            let (report, values) = ProgressReport.stream()
            let showing = Task {
                for await progress in values { show(progress.fraction ?? 0) }
            }
            try await requests.download("films/1", to: destination, progress: report)
            await showing.value
            // Article ends
            fraction.finish()
            var last: Double?
            for await part in fractions { last = part }
            #expect(last == 1)
        }
    }

    @Test("The article on downloads shows an existing file and a folder that is created")
    func places() async throws {
        try await withPlace({ _ in .response(body: "film") }) { place in
            let (requests, folder) = (place.requests, place.folder)
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }
            for _ in 1...2 {
                // Article begins
                var options = DownloadOptions()
                options.existing = .uniqueName
                options.createsDirectories = true
                let file = try await requests.download(
                    "films/1", to: "\(folder)/new/film.mp4", options: options)
                show(file.path)  // …/new/film-1.mp4, where a film.mp4 is there
                // Article ends
            }
            #expect(shown == ["\(folder)/new/film.mp4", "\(folder)/new/film-1.mp4"])
            #expect(try shown.map(place.content) == ["film", "film"])
        }
    }

    @Test("The article on downloads shows how to remove the files of a killed program")
    func abandoned() async throws {
        try await withPlace({ _ in .response() }) { place in
            let folder = place.folder
            for name in ["film.mp4", ".film.mp4.0a1b.part"] {
                try Data("left".utf8).write(to: URL(filePath: "\(folder)/\(name)"))
            }

            // Article begins
            try await DownloadedFile.removeAbandoned(
                in: folder, partsUntouchedFor: .seconds(7 * 86_400))
            // Article ends

            let left = try place.names
            #expect(left == ["film.mp4"])
        }
    }

    @Test("The article on downloads shows a token's progress and a handler")
    func callbacks() async throws {
        try await withPlace({ _ in .response(body: "film") }) { place in
            let (requests, destination) = (place.requests, place.folder + "/1.mp4")
            let queue = DispatchQueue(label: "app")
            let (texts, text) = AsyncStream.makeStream(of: String.self)
            @Sendable func show(_ shown: String) { text.yield(shown) }

            // Article begins
            let token = requests.download(
                "films/1", to: destination, completionQueue: queue,
                progressInterval: .milliseconds(500),
                progress: { show("\($0.bytes) of \($0.expected ?? -1)") },
                completion: { result in
                    if case .success(let file) = result { show("whole: \(file.bytes)") }
                })
            for await progress in token.progressUpdates {
                print(progress.fraction ?? 0)
            }
            // Article ends

            var shown: [String] = []
            for await text in texts {
                shown.append(text)
                if text.hasPrefix("whole") { break }
            }
            #expect(Array(shown.suffix(2)) == ["4 of 4", "whole: 4"])
            #expect(token.progress?.bytes == 4)
        }
    }

    @Test("The article on downloads shows how a failed download is resumed")
    func resuming() async throws {
        try await withPlace({ request in
            let tag = ("ETag", "\"1\"")
            guard request.header("Range") == "bytes=4-" else {
                return .raw([.head(headers: [tag, ("Content-Length", "8")]), .text("half"), .close])
            }
            return .response(status: 206, headers: [tag, ("Content-Range", "bytes 4-7/8")], body: "rest")
        }) { place in
            let (requests, destination) = (place.requests, place.folder + "/1.mp4")
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }

            // Article begins
            var options = DownloadOptions()
            options.resumes = true
            options.existing = .replace
            options.maximumSize = 10 << 30
            do throws(RequestFailure) {
                try await requests.download(
                    "films/1", to: destination, options: options)
            } catch {
                guard error.reason == .interrupted else { throw error }
                let file = try await requests.download(
                    "films/1", to: destination, options: options)
                show("\(file.resumedFrom) bytes were here already.")
            }
            // Article ends

            #expect(shown == ["4 bytes were here already."])
            #expect(try place.content(destination) == "halfrest")
            #expect(place.server.requests.map { $0.header("If-Range") } == [nil, "\"1\""])
            let left = try place.names
            #expect(left == ["1.mp4"])
        }
    }

    @Test("The article on downloads shows all three kinds of cancellation")
    func cancelling() async throws {
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        try await withPlace({ _ in
            arrival.yield()
            return .raw([.head(headers: [("Content-Length", "8")]), .text("half"), .hang])
        }) { place in
            let (requests, destination) = (place.requests, place.folder + "/1.mp4")
            let (reasons, reason) = AsyncStream.makeStream(of: String.self)
            @Sendable func show(_ text: String) { reason.yield(text) }
            var arrived = arrivals.makeAsyncIterator()

            // Article begins
            let task = Task { try await requests.download("films/1", to: destination) }
            // Article ends
            await arrived.next()
            // Article begins
            task.cancel()  // throws `cancelled`
            // Article ends
            let failure = await #expect(throws: RequestFailure.self) { try await task.value }
            #expect(failure?.reason == .cancelled)

            let handler: @Sendable (Result<DownloadedFile, RequestFailure>) -> Void = { result in
                if case .failure(let failure) = result { show("\(failure.reason)") }
            }
            let token = requests.download(DataRequest(.get, "films/1"), to: destination, completion: handler)
            await arrived.next()
            var options = DownloadOptions()
            options.createsDirectories = true
            let silent = requests.download(
                DataRequest(.get, "films/2"), to: place.folder + "/new/film", options: options, completion: handler)
            await arrived.next()
            // Article begins
            token.cancel()  // the handler receives `cancelled`
            silent.cancel(silently: true)  // its handler is not called at all
            // Article ends
            var shown = reasons.makeAsyncIterator()
            #expect(await shown.next() == "cancelled")
            await requests.shutdown()
            reason.finish()
            #expect(await shown.next() == nil)
            let left = try place.names
            #expect(left.isEmpty)
        }
    }

    @Test("The article on downloads shows uploads of files, streams and memory")
    func uploads() async throws {
        try await withPlace({
            $0.method == "GET" ? .response(body: "film") : .response(status: 201, body: "\($0.body.count)")
        }) { place in
            let (requests, path) = (place.requests, place.folder + "/1.mp4")
            try Data("film".utf8).write(to: URL(filePath: path))
            let (pieces, piece) = AsyncStream.makeStream(of: Data.self)
            piece.yield(Data("sub".utf8))
            piece.yield(Data("titles".utf8))
            piece.finish()
            let (fractions, fraction) = AsyncStream.makeStream(of: Double.self)
            @Sendable func show(_ part: Double) { fraction.yield(part) }

            // Article begins
            var upload = DataRequest(.put, "films/1")
            upload.body = try .file(path, type: MediaType("video/mp4"))
            upload.uploadProgress = ProgressReport { show($0.fraction ?? 0) }
            let stored = try await requests.send(upload)

            upload = DataRequest(.put, "films/1/subtitles")
            upload.body = .stream(pieces, length: nil, type: .text)
            let added = try await requests.send(upload)

            let film = try await requests.send(
                RequestBuilder(.get, "films/2").streaming())
            let copy = try await requests.send(
                DataRequest(.put, "copies/2", body: .stream(film.body, length: nil)))
            // Article ends

            #expect([stored.status, added.status, copy.status] == [.created, .created, .created])

            fraction.finish()
            var last: Double?
            for await part in fractions { last = part }
            #expect(last == 1)
            #expect(
                place.server.requests.map { "\($0.path) \($0.header("Content-Type") ?? "-") \($0.bodyText)" }
                    == [
                        "/v1/films/1 video/mp4 film", "/v1/films/1/subtitles text/plain subtitles", "/v1/films/2 - ",
                        "/v1/copies/2 application/octet-stream film",
                    ])
        }
    }

    @Test("The article on downloads shows a streamed response body")
    func streams() async throws {
        try await withPlace({ _ in .response(body: "one\ntwo\n") }) { place in
            let requests = place.requests
            var shown: [String] = []
            func show(_ text: String) { shown.append(text) }

            // Article begins
            let response = try await requests.send(
                RequestBuilder(.get, "log").streaming())
            for try await line in response.body.lines() { show(line) }
            // Article ends

            #expect(shown == ["one", "two"])
        }
    }
}
