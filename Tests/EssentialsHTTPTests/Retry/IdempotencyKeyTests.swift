import EssentialsHTTP
import FoundationEssentials
import Testing

@Suite struct IdempotencyKeyTests {
    @Test("An automatic key is a UUID of version 4")
    func automatic() throws {
        var bits: [UInt64] = [.max, .max]
        let key = try IdempotencyKey.automatic.field(.accept) { bits.removeLast() }.value
        #expect(key == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        let zero = try IdempotencyKey.automatic.field(.accept) { 0 }.value
        #expect(zero == "00000000-0000-4000-8000-000000000000")
        #expect(UUID(uuidString: key) != nil)
    }

    @Test("A text is sent unchanged")
    func text() throws { #expect(try IdempotencyKey.text("order 7").field(.accept) { 0 }.value == "order 7") }
}
