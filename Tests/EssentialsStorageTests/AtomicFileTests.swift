import EssentialsTools
import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

@Suite struct AtomicFileTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    private func write(
        _ text: String, _ durability: AtomicFile.Durability = .contentAndName, calls: FileCalls = .system
    ) throws(FileError) {
        let place = scratch("file")
        try AtomicFile.write(
            [Array(text.prefix(2).utf8), Array(text.dropFirst(2).utf8)], to: place, temporary: scratch(".temporary"),
            durability, calls: calls)
    }

    @Test("A file has the whole new content and can be read only by its user")
    func content() throws {
        try write("old")
        try write("newer")
        #expect(scratch.text("file") == "newer")
        #expect(try FileStatus(of: scratch("file")).permissions == 0o600)
        #expect(try scratch.names == ["file"])
    }

    @Test(
        "If any system call fails, the file has its old or its new content",
        arguments: [AtomicFile.Durability.none, .content, .contentAndName])
    func failures(durability: AtomicFile.Durability) throws {
        let faulty = FaultyCalls()
        var failed: Set<FileCalls.Kind> = []
        for step in 0..<100 {
            try write("old")
            faulty.fail(after: step)
            var isThrown = false
            do { try write("newer", durability, calls: faulty.calls) } catch {
                isThrown = true
                #expect(error.code == EIO)
            }
            guard let kind = faulty.failed else {
                #expect(!isThrown && scratch.text("file") == "newer")
                break
            }
            failed.insert(kind)
            let text = scratch.text("file")
            // Only the flush of the name follows the renaming.
            if text == "newer" { #expect(durability == .contentAndName && (kind == .open || kind == .sync)) }
            #expect(isThrown && (text == "old" || text == "newer"), "\(kind)")
            #expect(try scratch.names == ["file"], "\(kind)")
        }
        var expected: Set<FileCalls.Kind> = [.open, .lock, .permissions, .write, .status, .rename]
        if durability != .none { expected.insert(.sync) }
        #expect(failed == expected)
    }

    @Test("A full disk leaves the old file")
    func fullDisk() throws {
        try write("old")
        var calls = FileCalls.system
        let system = calls.write
        // One byte fits.
        let written = Atomic(0)
        calls.write = { descriptor, bytes in
            guard written.add(1, ordering: .relaxed).oldValue == 0 else { return -Int(ENOSPC) }
            return system(descriptor, UnsafeRawBufferPointer(rebasing: bytes.prefix(1)))
        }
        let full = calls
        #expect(throws: FileError(code: ENOSPC)) { try write("newer", calls: full) }
        #expect(scratch.text("file") == "old")
        #expect(try scratch.names == ["file"])
    }

    @Test("The number of flushes follows the durability", arguments: [(0, 0), (1, 1), (2, 2)])
    func flushes(durability: Int, count: Int) throws {
        var calls = FileCalls.system
        let flushes = Flag()
        calls.sync = { _ in
            flushes.count.add(1, ordering: .relaxed)
            return 0
        }
        try write("text", [.none, .content, .contentAndName][durability], calls: calls)
        #expect(flushes.count.load(ordering: .relaxed) == count)
    }

    private final class Flag: Sendable { let count = Atomic(0) }

    @Test("If several files claim a new name, only the first gets it", arguments: [true, false])
    func unlessThere(hasLinks: Bool) throws {
        var calls = FileCalls.system
        if !hasLinks { calls.link = { _, _ in EPERM } }
        var results: [Bool] = []
        for number in 0..<3 {
            let file = try AtomicFile(scratch("file"), temporary: scratch(".\(number)"), .content, calls: calls)
            try file.append(Array("\(number)".utf8).span.bytes)
            results.append(try file.commitUnlessThere())
        }
        #expect(results == [true, false, false])
        #expect(scratch.text("file") == "0")
        #expect(try scratch.names == ["file"])
    }

    @Test(
        "A file that moves to a new name keeps its own if the new one exists or a call fails",
        arguments: [true, false], [true, false])
    func moving(hasLinks: Bool, claims: Bool) throws {
        let faulty = FaultyCalls()
        var failed: Set<FileCalls.Kind> = []
        for step in 0..<100 {
            try scratch.write("new", "part")
            faulty.fail(after: step)
            var calls = faulty.calls
            if !hasLinks { calls.link = { _, _ in EPERM } }
            var isMoved = false
            do { isMoved = try calls.moveUnlessThere(scratch("part"), scratch("file"), claims: claims) } catch {
                #expect(error.code == EIO)
            }
            if let kind = faulty.failed { failed.insert(kind) }
            // If the file keeps both names, nothing is lost.
            if faulty.failed == .unlink { #expect(isMoved) } else { #expect(try scratch.names.count == 1) }
            #expect(scratch.text(isMoved ? "file" : "part") == "new")
            for name in try scratch.names { #expect(unlink(scratch(name)) == 0) }
            if faulty.failed == nil { break }
        }
        let locked: Set<FileCalls.Kind> = [.link, .open, .lock, .status, .rename]
        #expect(failed == (hasLinks ? [.link, .unlink] : claims ? [.link, .open, .rename] : locked))
        try scratch.write("old", "file")
        try scratch.write("new", "part")
        var calls = FileCalls.system
        if !hasLinks { calls.link = { _, _ in EPERM } }
        #expect(try !calls.moveUnlessThere(scratch("part"), scratch("file"), claims: claims))
        #expect(scratch.text("file") == "old" && scratch.text("part") == "new")
    }

    @Test(
        "A file of another library is put in place as a whole or not at all, and its temporary name is removed",
        arguments: [true, false], [true, false])
    func placing(replaces: Bool, isThere: Bool) throws {
        let faulty = FaultyCalls()
        var failed: Set<FileCalls.Kind> = []
        for step in 0..<100 {
            for name in try scratch.names { #expect(unlink(scratch(name)) == 0) }
            if isThere { try scratch.write("old", "file") }
            try scratch.write("new", "part")
            faulty.fail(after: step)
            var isInPlace: Bool?
            do {
                isInPlace = try AtomicFile.place(
                    scratch("part"), at: scratch("file"), replaces: replaces, calls: faulty.calls)
            } catch {
                #expect(error.code == EIO)
            }
            guard let kind = faulty.failed else {
                #expect(isInPlace == (replaces || !isThere))
                #expect(scratch.text("file") == (replaces || !isThere ? "new" : "old"))
                #expect(try scratch.names == ["file"])
                break
            }
            failed.insert(kind)
            // The name of a file that could not be removed stays.
            if kind != .unlink { #expect(try !scratch.names.contains("part"), "\(kind)") }
            let text = scratch.text("file")
            #expect(text == "new" || text == (isThere ? "old" : nil), "\(kind)")
            if isThere, !replaces { #expect(text == "old", "\(kind)") }
        }
        #expect(failed == [.open, .sync, replaces ? .rename : .link, .unlink])
    }

    @Test("A file of a place has the permissions of new files if it is not private, and is swept beside the place")
    func ofPlace() throws {
        let place = try FilePlace(scratch("file"))
        for isPrivate in [true, false] {
            let file = try AtomicFile(place, .none, isPrivate: isPrivate)
            #expect(place.isTemporary(String(file.temporary.dropFirst(scratch.path.utf8.count + 1))))
            try file.commit()
            let usual = try OpenFile(scratch("file-\(isPrivate)"), O_WRONLY | O_CREAT).status().permissions
            #expect(try FileStatus(of: scratch("file")).permissions == (isPrivate ? 0o600 : usual))
        }
        for name in try scratch.names { #expect(unlink(scratch(name)) == 0) }
        for name in [".file.1f.part", ".file.x.part", ".other.1f.part"] { try scratch.write("left", name) }
        AbandonedFiles.remove(beside: place)
        #expect(try scratch.names == [".file.x.part", ".other.1f.part"])
    }

    @Test("The directory of a name without a slash is the current one")
    func directory() {
        let expected = ["/": "/", "/a": "/", "/a/b": "/a", "a": ".", "a/b": "a", "./a": "."]
        for (path, directory) in expected { #expect(AbsolutePath.directory(of: path) == directory) }
    }

    @Test("Names in a directory are listed without . and .., and through a symbolic link only on demand")
    func names() throws {
        for name in ["a", "b", "c"] { try scratch.write("x", name) }
        #expect(try DirectoryNames.read(scratch.path).sorted() == ["a", "b", "c"])
        #expect(try DirectoryNames.read(scratch.path, upTo: 2).count == 2)
        #expect(try DirectoryNames.read(scratch.path, examining: 2).count <= 2)
        #expect(try DirectoryNames.read(scratch.path) { $0 == "b" } == ["b"])
        #expect(symlink(scratch.path, scratch("link")) == 0)
        #expect(try DirectoryNames.read(scratch("link")).count == 4)
        #expect(throws: FileError(code: ENOTDIR)) { try DirectoryNames.read(scratch("link"), followsLink: false) }
        #expect(throws: FileError(code: ENOENT)) { try DirectoryNames.read(scratch("none")) }
        #expect(throws: FileError(code: ENOTDIR)) { try DirectoryNames.read(scratch("a")) }
    }

    @Test("A temporary file is removed only after its writer has gone")
    func sweep() throws {
        var file: AtomicFile? = try AtomicFile(scratch("file"), temporary: scratch(".1"), .none)
        #expect(file != nil)
        #expect(!AbandonedFiles.removeIfAbandoned(scratch(".1")))
        file = nil
        #expect(AbandonedFiles.removeIfAbandoned(scratch(".1")))
        #expect(try scratch.names == [])
    }

    @Test("An existing temporary name is not touched")
    func takenTemporary() throws {
        try scratch.write("other", ".temporary")
        #expect(throws: FileError(code: EEXIST)) { try write("text") }
        #expect(scratch.text(".temporary") == "other")
    }
}
