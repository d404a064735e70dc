import EssentialsHTTP
import EssentialsStorage
import FoundationEssentials
import TestTools
import Testing

@testable import EssentialsFetching
@testable import EssentialsRequests

@Suite("The names of types in keys")
struct TypeNameTests {
    private struct Hidden: Codable, Sendable, Equatable {
        var number = 1

        struct Inner: Codable, Sendable {}
    }
    private enum Other: Codable, Sendable { case one }
    private struct Generic<Value: Codable & Sendable>: Codable, Sendable { var value: Value }

    private static var types: [any (Codable & Sendable).Type] {
        struct Local: Codable, Sendable {}
        struct Second: Codable, Sendable {}
        return [
            Hidden.self, Hidden.Inner.self, Other.self, Local.self, Second.self, Hidden?.self, [Hidden].self,
            [Local?].self, [String: Hidden].self, Generic<Hidden>.self, Generic<Other>.self, Generic<[Local]>.self,
            Generic<Int>.self, Int.self, [Coin].self,
        ]
    }

    @Test("Private and local types have names without addresses, even inside other types, and each has its own")
    func names() {
        let names = Self.types.map { TypeName($0) }
        for name in names {
            #expect(name.isLasting)
            #expect(!name.text.contains("$"), "\(name.text)")
        }
        #expect(Set(names.map(\.text)).count == names.count)
        #expect(names == Self.types.map { TypeName($0) })
    }

    @Test("Types that are visible everywhere keep the names that they have in Swift")
    func plain() {
        #expect(TypeName(Int.self).text == "Swift.Int")
        #expect(TypeName([Coin?].self).text == String(reflecting: [Coin?].self))
        #expect(ModelKey<[Coin]>("x").type == String(reflecting: [Coin].self))
    }

    @Test("Each address is replaced by its place, and a name with an unknown address does not last")
    func places() {
        func name(_ text: String) -> TypeName { TypeName(text) { $0 == 0x10 ? "here" : nil } }
        #expect(name("A.(unknown context at $10).B").text == "A.(unknown context at here).B")
        #expect(name("A.(unknown context at $10).B").isLasting)
        let twice = "C<A.(unknown context at $10).B, A.(unknown context at $10).D>"
        #expect(name(twice).text == "C<A.(unknown context at here).B, A.(unknown context at here).D>")
        for unknown in ["(unknown context at $11).B", "(unknown context at $ffffffffffffffffffff).B"] {
            #expect(name(unknown).text == unknown)
            #expect(!name(unknown).isLasting)
        }
        for other in ["", "(", "(unknown context at $", "(unknown context at $).B", "$10", "(unknown context at 10)"] {
            #expect(name(other).text == other)
            #expect(name(other).isLasting)
        }
    }

    @Test("Damaged notes of a program have no build identifier, and end the search")
    func notes() {
        func note(_ name: String, _ type: UInt32, _ content: [UInt8]) -> [UInt8] {
            var writer = ByteWriter()
            writer.append(UInt32(name.utf8.count))
            writer.append(UInt32(content.count))
            writer.append(type)
            writer.append(Array(name.utf8))
            writer.append([UInt8](repeating: 0, count: (4 - name.utf8.count % 4) % 4))
            writer.append(content)
            writer.append([UInt8](repeating: 0, count: (4 - content.count % 4) % 4))
            return writer.bytes
        }
        func identifier(_ bytes: [UInt8]) -> [UInt8]? {
            bytes.withUnsafeBytes { LoadedImage.buildIdentifier(in: $0) }
        }
        let good = note("GNU\0", 1, [9, 9, 9]) + note("Swift\0", 3, [1]) + note("GNU\0", 3, [1, 2, 3, 4, 5])
        #expect(identifier(good) == [1, 2, 3, 4, 5])
        for end in 0..<(good.count - 8) { #expect(identifier(Array(good[..<end])) == nil) }
        #expect(identifier([UInt8](repeating: 0xff, count: 64)) == nil)
        #expect(LoadedImage.place(of: 0) == nil)
        #expect(LoadedImage.place(of: 1) == nil)
    }

    @Test("A model of a private type is found in files again, and each start of a program has the same names")
    func files() async throws {
        let directory = ModelDirectory()
        let key = ModelKey<[Hidden?]>("hidden")
        let cache = try ModelCache(directory: directory.path)
        try await cache.save(CachedModel([Hidden()], date: Date()), for: key)
        await cache.flush()
        #expect(try await ModelCache(directory: directory.path).load(key)?.value == [Hidden()])
        #expect(cache.problems.count == 0)

        let starts = try await ChildProcess.onThread {
            try (0..<2).map { _ in
                let program = try ChildProcess("ResourceProbe", ["types"])
                defer { program.wait() }
                var lines: [String] = []
                while let line = program.line() { lines.append(line) }
                return lines
            }
        }
        #expect(starts[0].count == 6)
        #expect(starts[0] == starts[1])
        for name in starts[0] { #expect(!name.contains("$"), "\(name)") }
    }
}
