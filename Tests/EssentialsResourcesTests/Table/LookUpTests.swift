import EssentialsResources
import Testing

@Suite("Resource table: look-ups", .leavesNothing, .timeLimit(.minutes(5)))
struct LookUpTests {
    @Test("Tasks that look up new URLs at the same time receive one resource for each URL")
    func concurrency() async throws {
        let fixture = try ResourceFixture()
        let service = fixture.service
        let lists = await withTaskGroup(of: [Resource<Item>].self) { group in
            for _ in 0..<16 {
                group.addTask { (0..<200).map { service.resource("items/\($0)", as: Item.self) } }
            }
            return await group.reduce(into: [[Resource<Item>]]()) { $0.append($1) }
        }
        #expect(lists.count == 16)
        #expect(Set(lists).count == 1)
        #expect(Set(lists.joined()).count == 200)
        #expect(service.resourceCount == 200)
    }
}
