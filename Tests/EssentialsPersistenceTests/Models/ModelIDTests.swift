import Testing

@testable import EssentialsPersistence

@Suite struct ModelIDTests {
    private func generator(_ milliseconds: @escaping @Sendable () -> Int64) -> ModelIDGenerator {
        ModelIDGenerator(milliseconds: milliseconds, randomBits: { 5 })
    }

    @Test("An id has the time, the version and the variant of a UUID of version 7")
    func format() {
        let id: ModelID<Film> = ModelIDGenerator(milliseconds: { 0x017F_22E2_79B0 }, randomBits: { .max }).next()
        #expect(id.description == "017f22e2-79b0-77ff-bfff-ffffffffffff")
        #expect(id.milliseconds == 0x017F_22E2_79B0)
    }

    @Test("Ids of one millisecond ascend, even past the overflow of their counter")
    func ascending() {
        let generator = generator { 1000 }
        var last: ModelID<Film> = generator.next()
        for _ in 0..<10_000 {
            let next: ModelID<Film> = generator.next()
            #expect(last < next)
            last = next
        }
        #expect(last.milliseconds == 1002)
    }

    @Test("Ids ascend if the clock jumps back, and at the limits of the time range")
    func clock() {
        var machine = ModelIDMachine()
        var last: (high: UInt64, low: UInt64) = (0, 0)
        for time in [Int64.min, -5, 7, 3, 9, 9, 2, .max, .max, 1] {
            let next = machine.next(milliseconds: time, counterBits: 3, randomBits: 1)
            #expect(last < next)
            last = next
        }
    }

    @Test("An id is read from its text in either case, and from its bytes")
    func text() throws {
        let id = try #require(ModelID<Film>("018F4D6E-6A1C-7ABC-8DEF-0123456789AB"))
        #expect(id.description == "018f4d6e-6a1c-7abc-8def-0123456789ab")
        #expect(ModelID(bytes: id.bytes) == id)
        #expect(ModelID(storedValue: try #require(id.storedValue)) == id)
    }

    @Test(
        "A text that is not a UUID is not an id",
        arguments: [
            "", "018f4d6e6a1c7abc8def0123456789ab", "018f4d6e-6a1c-7abc-8def-0123456789a",
            "g18f4d6e-6a1c-7abc-8def-0123456789ab",
            "018f4d6e-6a1c-7abc-8def-0123456789abc", "018f4d6e-6a1c-7abc-8def-0123456789ab-", "é",
        ])
    func noText(text: String) {
        #expect(ModelID<Film>(text) == nil)
        #expect(ModelID<Film>(bytes: Array(text.utf8)) == nil)
    }

    @Test("Ids sort like their bytes and their texts")
    func order() {
        let ids = (0..<100).map { _ in ModelID<Film>(high: .random(in: 0 ... .max), low: .random(in: 0 ... .max)) }
        #expect(ids.sorted() == ids.sorted { $0.description < $1.description })
        #expect(ids.sorted() == ids.sorted { $0.bytes.lexicographicallyPrecedes($1.bytes) })
    }

    @Test("Models of a task get their ids from the generator of that task")
    func injected() {
        let generator = ModelIDGenerator(milliseconds: { 1 }, randomBits: { 0 })
        let film = ModelIDGenerator.$current.withValue(generator) { Film(title: "M", year: 1931) }
        #expect(film.id.description == "00000000-0001-7000-8000-000000000000")
        #expect(Film(title: "M", year: 1931).id.milliseconds ?? 0 > 1_700_000_000_000)
    }

    @Test("Many threads never get the same id")
    func threads() async {
        let ids = await withTaskGroup(of: [ModelID<Film>].self) { group in
            for _ in 0..<8 { group.addTask { (0..<1000).map { _ in ModelID() } } }
            return await group.reduce(into: Set()) { $0.formUnion($1) }
        }
        #expect(ids.count == 8000)
    }
}
