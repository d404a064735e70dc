import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct DownloadPlacementTests {
    private typealias Response = ScriptedTransport.Response

    private static let unique: DownloadOptions = {
        var options = DownloadOptions()
        options.existing = .uniqueName
        return options
    }()

    private static let making: DownloadOptions = {
        var options = DownloadOptions()
        options.createsDirectories = true
        return options
    }()

    /// With hard links, and as on a file system without them.
    private static let links: [FileCalls] = {
        var without = FileCalls.system
        without.link = { _, _ in EPERM }
        return [.system, without]
    }()

    private func download(
        _ destination: String, _ options: DownloadOptions, _ calls: FileCalls = .system, _ response: Response
    ) async throws -> DownloadedFile {
        let transport = ScriptedTransport(response)
        return try await FileDownload.run(
            .film(), to: destination, options: options, progress: nil, calls: calls
        ) { request throws(RequestFailure) in try await transport.send(request) }
    }

    // MARK: Unique names

    @Test(
        "An existing file stays, and the new file's name has a number before the extension", arguments: 0..<2)
    func unique(link: Int) async throws {
        let directory = try ScratchDirectory()
        var paths: [String] = []
        for text in ["one", "two", "three"] {
            let response = Response(200, [:], [text])
            let file = try await download(directory("film.mp4"), Self.unique, Self.links[link], response)
            #expect(file.bytes == text.utf8.count)
            paths.append(file.path)
        }
        #expect(paths == ["film.mp4", "film-1.mp4", "film-2.mp4"].map { directory($0) })
        #expect(
            paths.map { directory.text($0.split(separator: "/").last.map(String.init) ?? "") } == [
                "one", "two", "three",
            ])
        #expect(try directory.names == ["film-1.mp4", "film-2.mp4", "film.mp4"])
    }

    @Test(
        "The number precedes the last extension, and a leading dot does not begin an extension",
        arguments: [
            ("film", "film-1"), (".profile", ".profile-1"), ("a.tar.gz", "a.tar-1.gz"), ("film.", "film-1."),
            ("é.é", "é-1.é"), (String(repeating: "a", count: 255), String(repeating: "a", count: 253) + "-1"),
            (String(repeating: "ä", count: 125) + ".mp4", String(repeating: "ä", count: 124) + "-1.mp4"),
        ])
    func names(taken: String, name: String) async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", taken)
        let file = try await download(directory(taken), Self.unique, .system, Response(200, [:], ["new"]))
        #expect(file.path == directory(name))
        #expect(directory.text(name) == "new")
        #expect(directory.text(taken) == "old")
        #expect(try directory.names.count == 2)
    }

    @Test("Dangling links and pipes keep their names too, and a directory is refused")
    func odd() async throws {
        let directory = try ScratchDirectory()
        #expect(symlink(directory("none"), directory("film")) == 0)
        #expect(mkfifo(directory("film-1"), 0o600) == 0)
        let file = try await download(directory("film"), Self.unique, .system, Response(200, [:], ["new"]))
        #expect(file.path == directory("film-2"))
        try FileManager.default.createDirectory(atPath: directory("sub"), withIntermediateDirectories: false)
        let failure = await #expect(throws: RequestFailure.self) {
            try await download(directory("sub"), Self.unique, .system, Response(200, [:], ["new"]))
        }
        #expect((failure?.underlying as? SystemError)?.code == EISDIR)
    }

    @Test("Concurrent downloads to one name all complete under unique names", arguments: 0..<2)
    func concurrent(link: Int) async throws {
        let directory = try ScratchDirectory()
        let paths = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<30 {
                group.addTask {
                    let response = Response(200, [:], ["a", "b", "\(number)"])
                    return try await download(directory("film.mp4"), Self.unique, Self.links[link], response).path
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(paths).count == 30)
        let texts = try directory.names.compactMap { directory.text($0) }
        #expect(texts.sorted() == (0..<30).map { "ab\($0)" }.sorted())
    }

    @Test("If a thousand names exist, the download fails and nothing remains")
    func exhausted() async throws {
        let directory = try ScratchDirectory()
        var calls = FileCalls.system
        calls.link = { _, _ in EEXIST }
        let failure = await #expect(throws: RequestFailure.self) {
            try await download(directory("film"), Self.unique, calls, Response(200, [:], ["new"]))
        }
        #expect(failure?.reason == .file)
        #expect((failure?.underlying as? SystemError)?.code == EEXIST)
        #expect(try directory.names.isEmpty)
    }

    @Test("A resumed download can get a unique name")
    func resumed() async throws {
        let directory = try ScratchDirectory()
        try directory.write("old", "film")
        var options = Self.unique
        options.resumes = true
        let broken = Response(
            200, [.eTag: "\"v1\""], ["abcd"], failure: RequestFailure(.interrupted, "It ended."))
        await #expect(throws: RequestFailure.self) { try await download(directory("film"), options, .system, broken) }
        let rest = Response(206, [.contentRange: "bytes 4-5/6"], ["ef"])
        let file = try await download(directory("film"), options, .system, rest)
        #expect(file.path == directory("film-1"))
        #expect(file.resumedFrom == 4)
        #expect(directory.text("film-1") == "abcdef")
        #expect(try directory.names == ["film", "film-1"])
    }

    // MARK: Directories

    @Test("Missing directories are created if the options say so", arguments: [false, true])
    func made(resumes: Bool) async throws {
        let directory = try ScratchDirectory()
        var options = Self.making
        options.resumes = resumes
        let file = try await download(directory("a/b//c/film"), options, .system, Response(200, [:], ["new"]))
        #expect(file.path == directory("a/b//c/film"))
        #expect(directory.text("a/b/c/film") == "new")
        #expect(try directory.names == ["a"])
        // The second download finds the directories.
        _ = try await download(directory("a/b/c/film2"), options, .system, Response(200, [:], ["new"]))
        #expect(directory.text("a/b/c/film2") == "new")
    }

    @Test(
        "If a download fails, only the directories that it created are removed",
        arguments: [false, true])
    func removed(resumes: Bool) async throws {
        let directory = try ScratchDirectory()
        try FileManager.default.createDirectory(atPath: directory("here"), withIntermediateDirectories: false)
        var options = Self.making
        options.resumes = resumes
        let failure = await #expect(throws: RequestFailure.self) {
            try await download(directory("here/a/b/film"), options, .system, Response(404, [:], ["none"]))
        }
        #expect(failure?.reason == .status)
        #expect(try directory.names == ["here"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory("here")).isEmpty)
    }

    @Test("A created directory stays if it contains a partial file or another file")
    func kept() async throws {
        let directory = try ScratchDirectory()
        var options = Self.making
        options.resumes = true
        let broken = Response(
            200, [.eTag: "\"v1\""], ["abcd"], failure: RequestFailure(.interrupted, "It ended."))
        await #expect(throws: RequestFailure.self) { try await download(directory("a/film"), options, .system, broken) }
        #expect(directory.text("a/film.part") == "abcd")
        let refusal = Response(404, [:], []) { _ in
            try? Data("other".utf8).write(to: URL(filePath: directory("b/other")))
        }
        await #expect(throws: RequestFailure.self) {
            try await download(directory("b/c/film"), Self.making, .system, refusal)
        }
        #expect(directory.text("b/other") == "other")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory("b")) == ["other"])
    }

    @Test("A directory that another download removes meanwhile is created again")
    func takenAway() async throws {
        let directory = try ScratchDirectory()
        let transport = ScriptedTransport(Response(200, [:], ["new"]))
        let file = try await FileDownload.run(.film(), to: directory("a/b/film"), options: Self.making) {
            request throws(RequestFailure) in
            #expect(rmdir(directory("a/b")) == 0 && rmdir(directory("a")) == 0)
            return try await transport.send(request)
        }
        #expect(file.bytes == 3)
        #expect(directory.text("a/b/film") == "new")
    }

    @Test("A directory that cannot be created fails before the request is sent")
    func unmakeable() async throws {
        let directory = try ScratchDirectory()
        try directory.write("a", "file")
        #expect(symlink(directory("loop"), directory("loop")) == 0)
        for (path, code) in [("file/a/film", ENOTDIR), ("loop/a/film", ELOOP)] {
            let transport = ScriptedTransport()
            let failure = await #expect(throws: RequestFailure.self) {
                try await transport.download(.film(), to: directory(path), options: Self.making)
            }
            #expect(failure?.reason == .file)
            #expect((failure?.underlying as? SystemError)?.code == code)
            #expect(transport.requests.isEmpty)
        }
        #expect(try directory.names == ["file", "loop"])
    }
}
