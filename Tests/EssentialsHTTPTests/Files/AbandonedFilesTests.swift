import EssentialsHTTP
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct AbandonedFilesTests {
    private typealias Response = ScriptedTransport.Response

    private func age(_ path: String, days: Int) throws {
        let seconds = Int(Date().timeIntervalSince1970) - days * 86_400
        var times = [timeval(tv_sec: seconds, tv_usec: 0), timeval(tv_sec: seconds, tv_usec: 0)]
        try #require(utimes(path, &times) == 0)
    }

    @Test("A download removes only the temporary files that killed downloads to the same destination left")
    func ofDestination() async throws {
        let directory = try ScratchDirectory()
        let others = [
            ".film.part", ".film..part", ".film.xyz.part", ".film.0123456789abcdef0.part", ".film.2.mp4",
            ".films.0a1b.part", "film.0a1b.part", ".film.0A1B.part",
        ]
        for name in others + [".film.0a1b.part", ".film.f.part", ".film.0123456789abcdef.part"] {
            try directory.write("left", name)
        }
        _ = try await ScriptedTransport(Response(200, [:], ["new"])).download(.film(), to: directory("film"))
        #expect(try directory.names == (others + ["film"]).sorted())
    }

    @Test("A file that another download writes to stays, also with the same destination")
    func running() async throws {
        let directory = try ScratchDirectory()
        let removed = Mutex<[String]?>(nil)
        let transport = ScriptedTransport(
            Response(200, [.eTag: "\"v1\""], ["abcd", "ef"]) { number in
                guard number == 1 else { return }
                // Another download to the same name and a cleanup run while this one has received four bytes.
                _ = try? await ScriptedTransport(Response(200, [:], ["other"])).download(.film(), to: directory("film"))
                let found = try? await DownloadedFile.removeAbandoned(in: directory.path, partsUntouchedFor: .zero)
                removed.withLock { $0 = found }
            })
        let file = try await transport.download(.film(), to: directory("film"), options: .replacing)
        #expect(removed.withLock { $0 } == [])
        #expect(file.bytes == 6)
        #expect(directory.text("film") == "abcdef")
        #expect(try directory.names == ["film"])
    }

    @Test("A partial file that is being written stays during a cleanup")
    func runningPart() async throws {
        let directory = try ScratchDirectory()
        var options = DownloadOptions()
        options.resumes = true
        let transport = ScriptedTransport(
            Response(200, [.eTag: "\"v1\""], ["abcd", "ef"]) { number in
                guard number == 1 else { return }
                try? age(directory("film.part"), days: 9)
                let removed = try? await DownloadedFile.removeAbandoned(in: directory.path, partsUntouchedFor: .zero)
                #expect(removed == [])
            })
        #expect(try await transport.download(.film(), to: directory("film"), options: options).bytes == 6)
        #expect(directory.text("film") == "abcdef")
    }

    @Test("A cleanup removes temporary files and old partial files of a directory")
    func wholeDirectory() async throws {
        let directory = try ScratchDirectory()
        let kept = ["film", "notes.part", "new.part", "new.part.validator", ".part", ".x.part", "lone.part.validator"]
        let parts = ["old.part", "old.part.validator"]
        for name in kept + parts + [".film.0a1b.part", ".other film.mp4.f.part"] { try directory.write("x", name) }
        for name in ["old.part", "notes.part", "film"] { try age(directory(name), days: 8) }
        try age(directory("new.part"), days: 6)
        #expect(symlink(directory("film"), directory(".link.0a.part")) == 0)
        #expect(
            try await DownloadedFile.removeAbandoned(in: directory.path) == [
                ".film.0a1b.part", ".other film.mp4.f.part",
            ])
        #expect(try directory.names == (kept + parts + [".link.0a.part"]).sorted())
        let removed = try await DownloadedFile.removeAbandoned(
            in: directory.path + "/", partsUntouchedFor: .seconds(7 * 86_400))
        #expect(removed == ["old.part"])
        #expect(try directory.names == (kept + [".link.0a.part"]).sorted())
    }

    @Test("Cleaning up a missing directory or a regular file fails with file")
    func missing() async throws {
        let directory = try ScratchDirectory()
        try directory.write("x", "file")
        for (path, code) in [(directory("none"), ENOENT), (directory("file"), ENOTDIR)] {
            let failure = await #expect(throws: RequestFailure.self) {
                try await DownloadedFile.removeAbandoned(in: path)
            }
            #expect(failure?.reason == .file)
            #expect((failure?.underlying as? SystemError)?.code == code)
        }
    }

    @Test("The temporary file of a killed process is removed by the next download to its destination")
    func killed() async throws {
        let directory = try ScratchDirectory()
        let path = directory.path
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
            _ = try await ScriptedTransport(
                Response(200, [:], ["half", "whole"]) { number in
                    if number == 1 { kill(getpid(), SIGKILL) }
                }
            ).download(.film(), to: path + "/film")
        }
        let left = try directory.names
        #expect(left.count == 1)
        #expect(left.first.map { directory.text($0) } == "half")
        _ = try await ScriptedTransport(Response(200, [:], ["new"])).download(.film(), to: directory("film"))
        #expect(try directory.names == ["film"])
        #expect(directory.text("film") == "new")
    }

    @Test("A file that another process has locked stays until the lock is released")
    func locked() async throws {
        let directory = try ScratchDirectory()
        try directory.write("half", ".film.0a1b.part")
        let locked = open(directory(".film.0a1b.part"), O_RDWR | O_CLOEXEC)
        try #require(locked >= 0 && flock(locked, LOCK_EX | LOCK_NB) == 0)
        _ = try await ScriptedTransport(Response(200, [:], ["one"])).download(.film(), to: directory("film"))
        #expect(try directory.names == [".film.0a1b.part", "film"])
        // Said, because a child process that another test begins has the lock too until its program runs.
        try #require(flock(locked, LOCK_UN) == 0)
        close(locked)
        let transport = ScriptedTransport(Response(200, [:], ["two"]))
        _ = try await transport.download(.film(), to: directory("film"), options: .replacing)
        #expect(try directory.names == ["film"])
    }
}
