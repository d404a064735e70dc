import EssentialsHTTP
import TestTools
import Testing

@testable import EssentialsRequests

@Suite("Orders of token events")
struct TokenMachineExplorationTests {
    private struct Exploration {
        var seen: Set<TokenMachineModel> = []
        var faults: Set<String> = []
        var endings = 0

        mutating func explore(_ start: TokenMachineModel) throws {
            var open = [start]
            while let model = open.popLast(), faults.isEmpty {
                guard seen.insert(model).inserted else { continue }
                if model.isOver {
                    endings += 1
                    if model.machine.waiterCount > 0 { faults.insert("A waiter was left.") }
                }
                let events = model.events
                if events.isEmpty, !model.isOver { faults.insert("Nothing can happen any more.") }
                for event in events {
                    var following = model
                    faults.formUnion(try following.happen(event))
                    open.append(following)
                }
            }
        }
    }

    @Test(
        "In every order of responses, failures, cancellations and logouts each request ends once",
        arguments: 1...4)
    func everyOrder(participants: Int) throws {
        var exploration = Exploration()
        try exploration.explore(TokenMachineModel(participants: participants))
        #expect(exploration.faults == [])
        #expect(exploration.endings > 0)
        print("\(participants) participants: \(exploration.seen.count) states")
    }

    @Test("Long random orders of events with 40 requests break no rule", arguments: 1...40)
    func randomOrder(seed: UInt64) throws {
        var numbers = SeededNumbers(state: seed)
        var model = TokenMachineModel(participants: 40)
        var faults: [String] = []
        while !model.isOver, faults.isEmpty {
            guard let event = model.events.randomElement(using: &numbers) else {
                faults.append("Nothing can happen any more.")
                break
            }
            faults = try model.happen(event)
        }
        #expect(faults == [], "seed \(seed)")
        #expect(model.machine.waiterCount == 0)
    }
}
