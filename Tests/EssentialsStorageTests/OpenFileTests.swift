import FoundationEssentials
import Glibc
import TestTools
import Testing

@testable import EssentialsStorage

@Suite struct OpenFileTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test(
        "All bytes of a file are read, up to the maximum",
        arguments: [0, 1, 65_535, 65_536, 65_537, 200_000], [0, 1, 65_536, 100_000, 1 << 20])
    func bytes(size: Int, maximum: Int) throws {
        try Data(pattern(size)).write(to: URL(filePath: scratch("file")))
        let file = try OpenFile(scratch("file"), O_RDONLY)
        #expect(try file.bytes(upTo: maximum) == Array(pattern(size).prefix(maximum)))
    }

    @Test("A file of the kernel, which has no size, is read to its end")
    func kernelFile() throws {
        let file = try OpenFile("/proc/self/status", O_RDONLY)
        #expect(try file.status().size == 0)
        let text = String(decoding: try file.bytes(upTo: 1 << 20), as: UTF8.self)
        #expect(text.hasPrefix("Name:") && text.contains("\nPid:\t\(getpid())\n"))
    }

    @Test("The rules for files of the program are checked on the open file")
    func rules() throws {
        let path = scratch("file")
        try scratch.write("text", "file")
        chmod(path, 0o600)
        let strict: OwnFile.Rules = [.oneName, .noOtherWriters, .noOtherUsers]
        func refusal(_ rules: OwnFile.Rules, upTo maximum: Int64 = .max) -> OwnFile.Refusal? {
            do throws(OwnFile.Refusal) {
                _ = try OwnFile.open(path, O_RDONLY, rules, upTo: maximum)
                return nil
            } catch {
                return error
            }
        }
        #expect(refusal(strict, upTo: 4) == nil && refusal(strict, upTo: 3) == .tooLarge)
        chmod(path, 0o604)
        #expect(refusal([.noOtherWriters]) == nil && refusal([.noOtherUsers]) == .otherUsers)
        chmod(path, 0o620)
        #expect(refusal([.noOtherWriters]) == .otherUsers && refusal([]) == nil)
        link(path, scratch("second"))
        #expect(refusal([.oneName]) == .otherNames(count: 2) && refusal([]) == nil)
        unlink(path)
        symlink(scratch("second"), path)
        #expect(refusal([]) == .system(FileError(code: ELOOP)))
        unlink(path)
        mkfifo(path, 0o600)
        #expect(refusal([]) == .notRegular)
        unlink(path)
        #expect(refusal([])?.isMissing == true)
    }

    @Test("Temporary names beside a file are recognized, and no others")
    func place() throws {
        let place = try FilePlace(scratch("film.mp4"))
        let name = String(place.temporary().dropFirst(place.directory.count + 1))
        #expect(place.isTemporary(name) && FilePlace.isTemporary(name))
        for other in ["film.mp4", ".film.mp4.part", ".film.mp4.xyz.part", ".film.mp4.12", "film.mp4.12.part"] {
            #expect(!place.isTemporary(other))
        }
        #expect(!place.isTemporary(".other.12.part") && FilePlace.isTemporary(".other.12.part"))
        #expect(throws: FilePlace.Fault.noName) { try FilePlace("/tmp/") }
        #expect(throws: FilePlace.Fault.path(.empty)) { try FilePlace("") }
        #expect(throws: FilePlace.Fault.path(.zeroByte)) { try FilePlace("a\0b") }
    }
}
