import Testing

@testable import EssentialsLocator

@Suite("A table's filter")
struct KeyFilterTests {
    /// Keys of one type by many names.
    private func keys(_ range: Range<Int>) -> [ServiceKey] {
        range.map { ServiceKey(ObjectIdentifier(Int.self), name: "service \($0)") }
    }

    @Test("Without a key denies every key")
    func empty() {
        let filter = KeyFilter()
        #expect(!keys(0..<1_000).contains { filter.mayHave($0.spread) })
    }

    @Test("Denies no key that was added", arguments: [1, 20, 256, 5_000])
    func added(count: Int) {
        let filter = KeyFilter()
        let keys = keys(0..<count)
        for key in keys { filter.add(key.spread) }
        #expect(keys.allSatisfy { filter.mayHave($0.spread) })
    }

    @Test("With 20 keys denies most of the others")
    func others() {
        let filter = KeyFilter()
        for key in keys(0..<20) { filter.add(key.spread) }
        // One in thirteen is what 20 of 256 bits give.
        #expect(keys(20..<2_020).count { filter.mayHave($0.spread) } < 400)
    }

    @Test("Stands beside its root in one line of the processor's cache")
    func size() {
        #expect(MemoryLayout<RegistrationTable.Root>.size <= RegistrationTable.lineSize)
        for _ in 0..<20 {
            let table = RegistrationTable(limit: 1)
            let address = UInt(bitPattern: table.root)
            #expect(address.isMultiple(of: UInt(RegistrationTable.lineSize)))
        }
    }
}
