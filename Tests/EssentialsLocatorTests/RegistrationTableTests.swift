import Testing

@testable import EssentialsLocator

@Suite("RegistrationTable")
struct RegistrationTableTests {
    private let site = RegistrationSite(fileID: "Test/Here.swift", line: 1)

    private func slot(_ value: Int, name: String?) -> ServiceSlot {
        ServiceSlot(value, name: name, site: site)
    }

    private func value(_ name: String?, in table: borrowing RegistrationTable) -> Int? {
        guard let slot = table.slot(for: ServiceKey(Int.self, name: name)) else { return nil }
        return slot.takeUnretainedValue().stored() as? Int
    }

    @Test("An empty table has no registrations")
    func empty() {
        let table = RegistrationTable(limit: 10)
        #expect(value(nil, in: table) == nil)
        #expect(table.remove(ServiceKey(Int.self, name: nil)) == nil)
        #expect(table.liveSlots().isEmpty)
    }

    @Test("A table agrees with a dictionary over a long random sequence of changes")
    func model() {
        let table = RegistrationTable(limit: 100_000)
        var model: [String?: Int] = [:]
        var random = SystemRandomNumberGenerator()
        for step in 0..<5_000 {
            let number = Int.random(in: 0..<200, using: &random)
            let name: String? = number == 0 ? nil : "\(number)"
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                let removed = table.remove(ServiceKey(Int.self, name: name))
                #expect(removed?.stored() as? Int == model.removeValue(forKey: name))
            case 1:
                _ = table.insert([slot(step, name: name)], policy: .replace)
                model[name] = step
            default:
                _ = table.insert([slot(step, name: name)], policy: .refuse)
                model[name] = model[name] ?? step
            }
            #expect(value(name, in: table) == model[name])
        }
        for number in 0..<200 {
            let name: String? = number == 0 ? nil : "\(number)"
            #expect(value(name, in: table) == model[name])
        }
        #expect(table.liveSlots().count == model.count)
    }

    @Test("A table accepts one name as often as its limit allows, and finds it each time")
    func churn() {
        let table = RegistrationTable(limit: 1_000)
        for step in 0..<1_000 {
            _ = table.insert([slot(step, name: "same")], policy: .refuse)
            #expect(value("same", in: table) == step)
            _ = table.remove(ServiceKey(Int.self, name: "same"))
        }
        #expect(table.liveSlots().isEmpty)
        guard case .full = table.insert([slot(0, name: "same")], policy: .refuse) else {
            Issue.record("accepted more than its limit")
            return
        }
    }
}
