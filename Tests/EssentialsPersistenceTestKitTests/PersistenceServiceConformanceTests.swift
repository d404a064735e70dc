import EssentialsPersistence
import EssentialsPersistenceTestKit
import EssentialsTools
import Testing

@Suite("Conformance of persistence services", .timeLimit(.minutes(5)))
struct PersistenceServiceConformanceTests {
    @Test("A service over memory conforms", arguments: PersistenceServiceConformance.all)
    func memory(_ part: PersistenceServiceConformance) async {
        #expect(await part.violations(limit: .seconds(300)) { MemoryScope() } == [])
    }

    @Test("A service over memory that keeps its tables conforms after a restart, and one that does not is found")
    func restart() async {
        for fault in [nil, MemoryFault.forgetsRows] {
            let kept = Mutex<MemoryScope?>(nil)
            let violations = await PersistenceServiceConformance.checkRestart {
                let tables = fault == .forgetsRows ? nil : kept.withLock { $0?.tables }
                let service = MemoryScope(fault, tables: tables)
                kept.withLock { $0 = service }
                return service
            }
            #expect(violations.isEmpty == (fault == nil), "\(violations)")
            #expect(fault == nil || violations.contains { $0.contains("The rows after a restart must be") })
        }
    }

    @Test("A service over memory that is opened late conforms, and one whose calls do not wait is found")
    func opening() async {
        for fault in [nil, MemoryFault.answersTooEarly] {
            let violations = await PersistenceServiceConformance.checkOpening {
                let service = MemoryScope(fault, phase: .opening)
                return (service, { service.engine.open() })
            }
            #expect(violations.isEmpty == (fault == nil), "\(violations)")
            #expect(fault == nil || violations.contains { $0.contains("has failed: notReady") })
        }
    }

    @Test("A service over memory that cannot be opened conforms, and one that hides the cause is found")
    func failedOpening() async {
        for fault in [nil, MemoryFault.hidesCause] {
            let violations = await PersistenceServiceConformance.checkFailedOpening(.corrupt) {
                MemoryScope(fault, phase: .failed(PersistenceFailure(.corrupt, "No store.")))
            }
            #expect(violations.isEmpty == (fault == nil), "\(violations)")
            #expect(fault == nil || violations.contains { $0.contains("must fail as corrupt, and has failed as file") })
        }
    }

    /// The part that finds a fault, and what it says.
    private static let findings: [(fault: MemoryFault, part: String, text: String)] = [
        (.ignoresOrder, "Queries find what a scope sees", "Rows in descending order (stored) must be"),
        (.ignoresOffset, "Queries find what a scope sees", "Rows after an offset (stored) must be"),
        (
            .ignoresPending, "A pending change is seen by its scope",
            "What the scope sees must be [\"Ufa 2\", \"Decla\"]"
        ),
        (.changesParent, "A pending change is seen by its scope", "What the scope above sees must be"),
        (.savesOwnRowsOnly, "A save to the store takes the rows of all", "The report of a save of rows above must be"),
        (.savesHalf, "A save that fails leaves every scope", "A call that must succeed has failed: conflict"),
        (.overwrites, "A save decides each pair", "title over year with fail must fail as conflict, and succeeds"),
        (.hasNoBase, "An edit is judged", "An edit of a row that others have changed since it was shown must fail as"),
        (.keepsRolledBack, "A rollback drops the rows", "What the scope sees after a rollback must be"),
        (.discardsAll, "A rollback drops the rows", "What the scope sees after a discard must be"),
        (.hasNoConstraints, "A violated constraint is named", "A save of a name that is taken must fail as constraint"),
        (.namesNoConstraints, "A violated constraint is named", "The name of the condition must be"),
        (
            .neverRestricts, "A deletion that is restricted",
            "A deletion of a film with an award must fail as constraint"
        ),
        (.neverCascades, "A deletion cascades", "The scenes that are left in the scope must be"),
        (.forgetsOtherColumns, "Columns outside the model", "The rows in the store must be"),
        (.trimsTexts, "Values of all types", "A row must be"),
        (.tellsNobody, "An observation begins with what there is", "It has not ended within"),
        (.tellsEverybody, "An observer hears of the pending rows", "A sibling must hear of saves alone"),
        (.tellsNoRows, "The ids of changed rows", "The ids of new rows must be"),
        (.tellsOfThePast, "An observer is not told of changes", "An observer must hear first of a change after"),
        (.knowsNoOrigins, "Each row has an origin", "The origins must be"),
        (.runsWithinClosures, "A blocking call inside a closure", "The reasons inside a unit of work must be"),
        (.staysOpen, "A scope that is closed", "The state of a closed scope must be closed"),
        (.savesValidations, "A validation says", "What is in the store after a validation must be"),
        (.importsIntoScope, "An import writes past", "The number of rows in the report must be 7"),
        (.keepsFailedUnits, "A unit of work is made whole", "The number of rows after the failure (stored) must be 4"),
    ]

    @Test("Each faulty service fails with a sentence on its fault", arguments: findings)
    func fault(_ fault: MemoryFault, part name: String, text: String) async throws {
        let part = try #require(PersistenceServiceConformance.all.first { $0.name.hasPrefix(name) })
        let limit: Duration = fault == .tellsNobody ? .seconds(1) : .seconds(60)
        let violations = await part.violations(limit: limit) { MemoryScope(fault) }
        #expect(violations.contains { $0.hasPrefix(part.name) && $0.contains(text) }, "\(violations.prefix(3))")
    }

    @Test("Every fault has its part, and a service that cannot be made is a violation of each")
    func completeness() async {
        let others: Set<MemoryFault> = [.forgetsRows, .answersTooEarly, .hidesCause]
        #expect(Set(Self.findings.map(\.fault)).union(others) == Set(MemoryFault.allCases))
        for part in PersistenceServiceConformance.all {
            let violations = await part.violations(limit: .seconds(300)) { throw PersistenceFailure(.file, "No disk.") }
            #expect(violations.count == 1 && violations[0].contains("No disk."), "\(part)")
        }
        #expect(Set(PersistenceServiceConformance.all.map(\.name)).count == PersistenceServiceConformance.all.count)
    }
}
