import EssentialsHTTP
import EssentialsStorage
import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@Suite struct CookieFileTests {
    private let directory: ScratchDirectory
    private let url: RequestURL

    init() throws {
        directory = try ScratchDirectory()
        url = try RequestURL("https://www.example.com/a/b")
    }

    private func jar(_ name: String = "cookies.txt", keepsSession: Bool = false) throws(RequestFailure) -> CookieJar {
        try CookieJar(
            file: CookieFile(directory(name), keepsSessionCookies: keepsSession), publicSuffixes: sampleSuffixes)
    }

    private func text(_ jar: CookieJar) -> String? {
        jar.field(for: url).map { String(decoding: $0.bytes, as: UTF8.self) }
    }

    private func failure(_ work: () throws -> Void) throws -> RequestFailure {
        do { try work() } catch let failure as RequestFailure { return failure }
        throw Missing()
    }

    private struct Missing: Error {}

    private func mode(_ name: String) -> mode_t {
        var facts = stat()
        return stat(directory(name), &facts) == 0 ? facts.st_mode & 0o7777 : 0
    }

    @Test("Saved cookies come back in the order of their creation, with all that the form can express")
    func roundTrip() async throws {
        let first = try jar()
        first.store("z=1; Max-Age=600; Secure; HttpOnly; Path=/", from: url)
        first.store("y=2; Max-Age=600; Domain=example.com; Path=/", from: url)
        first.store("a=\u{e9}; Max-Age=600; Path=/", from: url)
        try await first.flush()
        let second = try jar()
        #expect(text(second) == "z=1; y=2; a=\u{e9}")
        let flags = second.cookies(includingHTTPOnly: true).map { [$0.isSecure, $0.isHTTPOnly, $0.isHostOnly] }
        #expect(flags == [[true, true, true], [false, false, false], [false, false, true]])
    }

    @Test("The file has mode 0600, also if others could read it before, and nothing is left beside it")
    func permissions() async throws {
        let first = try jar()
        first.store("a=1; Max-Age=600", from: url)
        try await first.flush()
        #expect(mode("cookies.txt") == 0o600)
        chmod(directory("cookies.txt"), 0o644)
        let second = try jar()
        second.store("b=1; Max-Age=600", from: url)
        try await second.flush()
        #expect(mode("cookies.txt") == 0o600)
        #expect(try directory.names == ["cookies.txt"])
    }

    @Test("The temporary file of a killed process is removed, and one that is being written stays")
    func leftovers() async throws {
        let (left, written) = (".cookies.txt.12ab.part", ".cookies.txt.34cd.part")
        try directory.write("x", left)
        let file = try OpenFile(directory(written), O_WRONLY | O_CREAT, mode: 0o600)
        #expect(try file.lock(withoutLocks: true))
        let jar = try jar()
        jar.store("a=1; Max-Age=600", from: url)
        try await jar.flush()
        #expect(try directory.names == [written, "cookies.txt"])
        withExtendedLifetime(file) {}
    }

    @Test(
        "A file that others can write to is refused, when reading and when writing",
        arguments: [0o666, 0o620, 0o602] as [mode_t])
    func otherWriters(mode: mode_t) async throws {
        let first = try jar()
        first.store("a=1; Max-Age=600", from: url)
        try await first.flush()
        chmod(directory("cookies.txt"), mode)
        let failure = try self.failure { _ = try self.jar() }
        #expect(failure.reason == .file)
        #expect(failure.message.contains("can be written by other users"))
        #expect(failure.remedy?.contains("600") == true)
        first.store("b=2; Max-Age=600", from: url)
        let failed = await #expect(throws: RequestFailure.self) { try await first.flush() }
        #expect(failed?.message == failure.message)
        chmod(directory("cookies.txt"), 0o600)
        try await first.flush()
    }

    @Test("A file with a second name is refused, when reading and when writing")
    func secondName() async throws {
        let first = try jar()
        first.store("a=1; Max-Age=600", from: url)
        try await first.flush()
        #expect(Glibc.link(directory("cookies.txt"), directory("other.txt")) == 0)
        let failure = try self.failure { _ = try self.jar() }
        #expect(failure.reason == .file)
        #expect(failure.message.contains("2 names"))
        first.store("b=2; Max-Age=600", from: url)
        let failed = await #expect(throws: RequestFailure.self) { try await first.flush() }
        #expect(failed?.message == failure.message)
        #expect(directory.text("other.txt")?.contains("b\t2") == false)
    }

    @Test("A file of 4 MiB of newlines takes a few times its size in memory, and is kept when cookies are saved")
    func newlines() async throws {
        let size = 4 << 20
        try directory.write(String(repeating: "\n", count: size), "cookies.txt")
        chmod(directory("cookies.txt"), 0o600)
        let before = try Self.peakMemory()
        let jar = try self.jar()
        jar.store("a=1; Max-Age=600; Path=/", from: url)
        try await jar.flush()
        // Other tests of the process add to the peak. An entry for each line would take more than 500 MiB.
        #expect(try Self.peakMemory() - before < 256 << 20)
        var status = stat()
        #expect(stat(directory("cookies.txt"), &status) == 0 && status.st_size > size)
        #expect(text(try self.jar()) == "a=1")
    }

    /// The largest memory of the process so far, in bytes.
    private static func peakMemory() throws -> Int {
        var usage = rusage()
        #expect(getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0)
        return usage.ru_maxrss * 1024
    }

    @Test("A symbolic link is refused, when reading and when writing")
    func link() async throws {
        try directory.write("", "target")
        symlink(directory("target"), directory("cookies.txt"))
        let failure = try self.failure { _ = try self.jar() }
        #expect(failure.reason == .file)
        #expect(failure.remedy?.contains("symbolic link") == true)
        unlink(directory("cookies.txt"))
        let jar = try self.jar()
        symlink(directory("target"), directory("cookies.txt"))
        jar.store("a=1; Max-Age=600", from: url)
        let failed = await #expect(throws: RequestFailure.self) { try await jar.flush() }
        #expect(failed?.remedy?.contains("symbolic link") == true)
        #expect(directory.text("target") == "")
    }

    @Test("A file of another user is refused", .enabled(if: geteuid() == 0, "Only root can give files away."))
    func owner() throws {
        try directory.write("", "cookies.txt")
        chown(directory("cookies.txt"), 65534, 65534)
        let failure = try self.failure { _ = try self.jar() }
        #expect(failure.reason == .file)
        #expect(failure.message.contains("another user"))
        #expect(failure.remedy?.contains("owner") == true)
    }

    @Test("A directory, a pipe and a path without a file name are refused", arguments: ["folder", "pipe", "", "."])
    func noFile(name: String) async throws {
        mkdir(directory("folder"), 0o700)
        mkfifo(directory("pipe"), 0o600)
        let failure = try self.failure { _ = try self.jar(name) }
        #expect(failure.reason == .file)
        #expect(failure.remedy != nil)
    }

    @Test("A missing directory is a failure when the first cookie is saved, and says what to do")
    func missingDirectory() async throws {
        let jar = try self.jar("none/cookies.txt")
        jar.store("a=1; Max-Age=600", from: url)
        let failure = await #expect(throws: RequestFailure.self) { try await jar.flush() }
        #expect(failure?.reason == .file)
        #expect(failure?.remedy == "Create the directory of the cookie file.")
        mkdir(directory("none"), 0o700)
        try await jar.flush()
        #expect(directory.text("none/cookies.txt")?.contains("\ta\t1\n") == true)
    }

    @Test("A full disk leaves the old file whole and loses no change")
    func fullDisk() async throws {
        try directory.write("www.example.com\tFALSE\t/\tFALSE\t4000000000\told\t1\n", "cookies.txt")
        var calls = FileCalls.system
        calls.write = { _, _ in -Int(ENOSPC) }
        let file = CookieFile(directory("cookies.txt"))
        let store = try CookieFileStore(file, suffixes: sampleSuffixes, clock: .system, calls: calls)
        let full = try CookieJar(store: store, sampleSuffixes, .system)
        full.store("a=1; Max-Age=600; Path=/", from: url)
        let failure = await #expect(throws: RequestFailure.self) { try await full.flush() }
        #expect(failure?.reason == .file)
        #expect(failure?.remedy?.contains("space") == true)
        #expect(text(try jar()) == "old=1")
        // A save in the background may have taken the changes for a moment, and may be writing its temporary file.
        while !full.hasChanges { await Task.yield() }
        for _ in 0..<100_000 where try directory.names != ["cookies.txt"] { await Task.yield() }
        #expect(try directory.names == ["cookies.txt"])
    }

    @Test("Comments and lines that cannot be read are kept in their places")
    func foreignLines() async throws {
        let lines = [
            "# my comment", "broken\tline", "www.example.com\tFALSE\t/\tFALSE\t4000000000\told\t1", "",
            ".com\tTRUE\t/\tFALSE\t4000000000\tsuffix\t1", "www.example.com\tFALSE\t/\tFALSE\t5\texpired\t1",
            "www.example.com\tFALSE\t/\tFALSE\t0\tsession\t1", "last line",
        ]
        try directory.write(lines.joined(separator: "\n"), "cookies.txt")
        let jar = try self.jar()
        #expect(text(jar) == "old=1; session=1")
        jar.store("old=2; Max-Age=600; Path=/", from: url)
        jar.store("new=3; Max-Age=600; Path=/", from: url)
        try await jar.flush()
        let saved = try #require(directory.text("cookies.txt")).split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            saved.map { $0.split(separator: "\t").last ?? "" } == [
                "# my comment", "line", "2", "", "1", "1", "last line", "3", "",
            ])
        #expect(saved[4] == lines[4])
    }

    @Test("Session cookies are saved only on demand, and a saved one that is replaced by one of the session goes")
    func sessionCookies() async throws {
        let first = try jar()
        first.store("s=1; Path=/", from: url)
        first.store("p=1; Path=/; Max-Age=600", from: url)
        try await first.flush()
        #expect(text(try jar()) == "p=1")
        first.store("p=2; Path=/", from: url)
        try await first.flush()
        #expect(text(first) == "s=1; p=2")
        #expect(text(try jar()) == nil)
        let keeping = try jar("kept.txt", keepsSession: true)
        keeping.store("s=1; Path=/", from: url)
        try await keeping.flush()
        #expect(text(try jar("kept.txt")) == "s=1")
    }

    @Test("A cookie with a tab stays in memory, because the form cannot express it")
    func tab() async throws {
        let first = try jar()
        first.store("t=a\tb; Path=/; Max-Age=600", from: url)
        first.store("u=1; Path=/; Max-Age=600", from: url)
        try await first.flush()
        #expect(text(first) == "t=a\tb; u=1")
        #expect(text(try jar()) == "u=1")
    }

    @Test("Two jars on one file see each other's changes and lose none")
    func twoJars() async throws {
        let (one, two) = (try jar(), try jar())
        one.store("a=1; Path=/; Max-Age=600", from: url)
        one.store("gone=1; Path=/; Max-Age=600", from: url)
        try await one.flush()
        two.store("b=2; Path=/; Max-Age=600", from: url)
        two.store("s=session; Path=/", from: url)
        try await two.flush()
        #expect(text(two) == "b=2; s=session; a=1; gone=1")
        one.store("gone=; Path=/; Max-Age=0", from: url)
        one.store("a=3; Path=/; Max-Age=600", from: url)
        try await one.flush()
        #expect(text(one) == "a=3; b=2")
        two.store("c=4; Path=/; Max-Age=600", from: url)
        try await two.flush()
        #expect(text(two) == "b=2; s=session; a=3; c=4")
        #expect(text(try jar()) == "a=3; b=2; c=4")
    }

    @Test("Jars that save at the same time lose nothing")
    func concurrentJars() async throws {
        let jars = try (0..<4).map { _ in try jar() }
        try await withThrowingTaskGroup { group in
            for (index, jar) in jars.enumerated() {
                group.addTask { [url] in
                    for number in 0..<20 {
                        jar.store("j\(index)n\(number)=1; Path=/; Max-Age=600", from: url)
                        // A lock is waited for five seconds, and what was not saved is saved with the next attempt.
                        while !Task.isCancelled, (try? await jar.flush()) == nil {}
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try jar().count == 80)
        #expect(try directory.names == ["cookies.txt"])
    }

    @Test("A file that somebody removed takes its cookies along")
    func removedFile() async throws {
        let jar = try self.jar()
        jar.store("a=1; Path=/; Max-Age=600", from: url)
        jar.store("s=1; Path=/", from: url)
        try await jar.flush()
        unlink(directory("cookies.txt"))
        jar.store("b=1; Path=/; Max-Age=600", from: url)
        try await jar.flush()
        #expect(text(jar) == "s=1; b=1")
    }

    @Test("A locked file is not written until the lock is released")
    func lock() async throws {
        try directory.write("", "cookies.txt")
        let descriptor = open(directory("cookies.txt"), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        let clock = StepClock()
        let jar = try CookieJar(
            file: CookieFile(directory("cookies.txt")), publicSuffixes: sampleSuffixes, clock: clock.requestClock)
        jar.store("a=1; Path=/; Max-Age=600", from: url)
        let save = Task { try await jar.flush() }
        while clock.deadlines.count < 2 { await Task.yield() }
        #expect(directory.text("cookies.txt") == "")
        flock(descriptor, LOCK_UN)
        clock.advance(by: .seconds(1))
        try await save.value
        #expect(directory.text("cookies.txt")?.contains("\ta\t1\n") == true)
    }

    @Test("A lock that is never released is a failure after five seconds")
    func lockedForever() async throws {
        try directory.write("", "cookies.txt")
        let descriptor = open(directory("cookies.txt"), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        try #require(flock(descriptor, LOCK_EX) == 0)
        let clock = StepClock()
        let jar = try CookieJar(
            file: CookieFile(directory("cookies.txt")), publicSuffixes: sampleSuffixes, clock: clock.requestClock)
        jar.store("a=1; Path=/; Max-Age=600", from: url)
        let ended = Atomic(false)
        async let outcome: RequestFailure? = {
            defer { ended.store(true, ordering: .relaxed) }
            do throws(RequestFailure) { try await jar.flush() } catch { return error }
            return nil
        }()
        while !ended.load(ordering: .relaxed) {
            if !clock.deadlines.isEmpty { clock.advance(by: .milliseconds(10)) }
            await Task.yield()
        }
        let failure = try #require(await outcome)
        #expect(failure.reason == .file)
        #expect(failure.message.contains("locked"))
    }
}
