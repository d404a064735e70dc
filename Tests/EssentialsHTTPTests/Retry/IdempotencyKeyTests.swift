import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct IdempotencyKeyTests {
    @Test("An automatic key is a UUID of version 4")
    func automatic() throws {
        var bits: [UInt64] = [.max, .max]
        let key = IdempotencyKey.automatic.value { bits.removeLast() }
        #expect(key == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        let zero = IdempotencyKey.automatic.value { 0 }
        #expect(zero == "00000000-0000-4000-8000-000000000000")
        #expect(UUID(uuidString: key) != nil)
    }

    @Test("A text is sent unchanged")
    func text() { #expect(IdempotencyKey.text("order 7").value { 0 } == "order 7") }
}
