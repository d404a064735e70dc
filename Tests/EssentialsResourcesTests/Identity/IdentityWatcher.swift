import EssentialsRequests
import EssentialsResources
import EssentialsTools

/// Reads sequences and changes of resources, and checks each element when it arrives.
///
/// Every element that a sequence has returned reaches this actor before a barrier that is requested later.
actor IdentityWatcher {
    private let model: IdentityModel

    init(_ model: IdentityModel) { self.model = model }

    /// Returns when all earlier elements were checked.
    func barrier() {}

    func readStates(of resource: Resource<MadeItem>, _ name: String) async {
        for await state in resource.states { model.check(state, "the states of \(name)") }
    }

    func readContents(of resource: Resource<MadeItem>, _ name: String) async {
        for await content in resource.contents {
            model.checkShown(content.number, in: .resource, "the contents of \(name)")
        }
    }

    func readChanges(of resource: Resource<MadeItem>, _ name: String) async {
        for await change in resource.changes() { model.check(change.state, "the changes of \(name)") }
    }

    func receive(_ change: ResourceChange<MadeItem>, _ name: String) {
        model.check(change.state, "an observer of \(name) on an actor")
    }
}

extension IdentityModel {
    /// Checks the content and the entity of a state.
    func check(_ state: ResourceState<MadeItem>, _ context: @autoclosure () -> String) {
        checkShown(state.content?.number, in: .resource, context())
        let entity = state.entity?.headerFields[IdentityTransport.madeField].flatMap { Int($0) }
        checkShown(entity, in: .resource, "the entity in " + context())
    }
}

/// One observation of the test, which ends with its last reference.
final class IdentityObservation: Sendable {
    private let observation: ResourceObservation?
    private let task: Task<Void, Never>?

    /// - Parameter kind: From 0 to 4: a closure, a closure on an actor, and the three sequences.
    init(
        _ kind: Int, of resource: Resource<MadeItem>, _ name: String, _ watcher: IdentityWatcher, _ model: IdentityModel
    ) {
        switch kind {
        case 0:
            observation = resource.observeSynchronously { [model] change in
                model.check(change.state, "an observer of \(name)")
            }
            task = nil
        case 1:
            observation = resource.observe { [watcher] change in await watcher.receive(change, name) }
            task = nil
        case 2: (observation, task) = (nil, Task { await watcher.readStates(of: resource, name) })
        case 3: (observation, task) = (nil, Task { await watcher.readContents(of: resource, name) })
        default: (observation, task) = (nil, Task { await watcher.readChanges(of: resource, name) })
        }
    }

    deinit {
        observation?.cancel()
        task?.cancel()
    }
}
