import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

@Suite struct FileDirectoryTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test("Missing directories are created from the outermost one on, and only these are reported")
    func make() throws {
        var made: [String] = []
        try FileDirectory.make(scratch("a/b"), mode: 0o700, made: &made)
        #expect(made == [scratch("a"), scratch("a/b")])
        #expect(try FileStatus(of: scratch("a/b")).permissions == 0o700)
        try FileDirectory.make(scratch("a/b/c"), mode: 0o750, made: &made)
        #expect(made == [scratch("a"), scratch("a/b"), scratch("a/b/c")])
        try FileDirectory.make(scratch("a/b/c"), mode: 0o700, made: &made)
        #expect(made.count == 3)
    }

    @Test("If a directory cannot be created, the failure still reports those created before")
    func failure() throws {
        var made: [String] = []
        let path = scratch("a/\(String(repeating: "x", count: 300))")
        // A missing parent hides that the name is too long.
        #expect(throws: FileError(code: ENAMETOOLONG)) { try FileDirectory.make(path, mode: 0o700, made: &made) }
        #expect(made == [scratch("a")])
        // A path that cannot be examined counts as existing, so that its use reports the error.
        try scratch.write("x", "file")
        try FileDirectory.make(scratch("file/a"), mode: 0o700, made: &made)
        #expect(made == [scratch("a")])
    }

    @Test("A directory of several processes is for its user only, and a file does not count as one")
    func ownDirectory() throws {
        let directory = FileDirectory(absolute: scratch("a/b"))
        #expect(try directory.names(upTo: 10).isEmpty)
        try directory.make()
        try directory.make()
        #expect(try FileStatus(of: scratch("a")).permissions == 0o700)
        #expect(try FileStatus(of: directory.path).permissions == 0o700)
        try scratch.write("x", "file")
        #expect(throws: FileError(code: ENOTDIR)) { try FileDirectory(absolute: scratch("file")).make() }
    }

    @Test("The free space of a path equals that of an open file beside it, and that of a missing path is unknown")
    func freeSpace() throws {
        try scratch.write("x", "file")
        let file = try OpenFile(scratch("file"), O_RDONLY)
        // Other programs write meanwhile.
        let (opened, named) = (
            FileCalls.system.freeBytes(file.descriptor), FileCalls.freeBytes(besides: scratch("file"))
        )
        #expect((opened == nil) == (named == nil))
        if let opened, let named { #expect(abs(opened - named) < max(opened, named) / 2 + 1 << 30) }
        #expect(FileCalls.freeBytes(besides: scratch("none")) == nil)
    }
}
