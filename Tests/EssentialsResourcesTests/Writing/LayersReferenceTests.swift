import TestTools
import Testing

@testable import EssentialsResources

/// Compares the layers of a resource with a model that keeps all events, and computes everything from them.
@Suite("Layers against a reference")
struct LayersReferenceTests {
    @Test(
        "Random sequences of writes, loads and changes agree with a model that keeps all events",
        arguments: RandomSequences.seeds)
    func randomSequences(seed: UInt64) async {
        var numbers = SeededNumbers(state: seed)
        for sequence in 0..<RandomSequences.count {
            await Task.yield()
            var subject = LayeredResource()
            var model = SpelledOutModel()
            for step in 0..<RandomSequences.steps {
                let action = Int.random(in: 0..<16, using: &numbers)
                let choice = Int.random(in: 0..<64, using: &numbers)
                let value = Int.random(in: 1...9, using: &numbers)
                subject.perform(action, choice, value)
                model.perform(action, choice, value)
                let (got, wanted) = (subject.view, model.view)
                if got != wanted {
                    Issue.record(
                        "seed \(seed), sequence \(sequence), step \(step), action \(action): \(got), not \(wanted)")
                    return
                }
            }
        }
    }
}

/// The values on which both have to agree.
private struct LayeredView: Equatable {
    var shown: [Int]?
    var server: [Int]?
    var layers: Int
    var isInvalid: Bool
    var running: [UInt64]
    var loads: [UInt64]
    var joinable: UInt64?
}

/// The machine and the folding of the layers, put together as the resource does it.
private struct LayeredResource {
    var machine = ResourceMachine()
    var content = LayeredContent(layers: [], server: [])

    var view: LayeredView {
        LayeredView(
            shown: Self.numbers(content.shown), server: Self.numbers(content.server), layers: machine.layers.count,
            isInvalid: machine.isInvalid, running: machine.writes.filter { $0.sent > 0 }.map(\.number),
            loads: machine.loads.map(\.number), joinable: machine.joinable)
    }

    private static func numbers(_ projections: [any AnyProjection]) -> [Int]? {
        projections.projection(of: [Int].self).flatMap { try? $0.result.get() }
    }

    private func set(_ numbers: [Int]) -> [any AnyProjection] { [Projection<[Int]>(result: .success(numbers))] }

    mutating func perform(_ action: Int, _ choice: Int, _ value: Int) {
        let running = machine.writes.filter { $0.sent > 0 }.map(\.number)
        let write = running.isEmpty ? nil : running[choice % running.count]
        let loads = machine.loads.map(\.number)
        let load = loads.isEmpty ? nil : loads[choice % loads.count]
        switch action {
        case 0, 1, 2: begin(hasLayer: choice > 12, isConcurrent: value > 6, value)
        case 3: _ = machine.beginLoad(waiting: 1, isStarted: false)
        case 4, 5: if let load, machine.end(load) == .commits { content.server = set([value]) }
        case 6:
            machine.override()
            content.server = set([-value])
        case 7: machine.invalidate()
        case 8 where choice == 0:
            _ = machine.wipe()
            content = LayeredContent(layers: [], server: [])
        case 8: if let load { _ = machine.cancel(load) }
        case 9:
            // Even a waiting write can be cancelled.
            if let number = machine.writes.isEmpty ? nil : machine.writes[choice % machine.writes.count].number {
                end(number, .failed, value)
            }
        case 10, 11: if let write { end(write, .failed, value) }
        case 12: if let write { end(write, .outdated, value) }
        case 13: if let write { end(write, .content(isFresh: true), value) }
        case 14: if let write { end(write, .content(isFresh: false), value) }
        default: if let write { end(write, choice < 32 ? .outdated : .deleted, value) }
        }
    }

    private mutating func begin(hasLayer: Bool, isConcurrent: Bool, _ value: Int) {
        var layer = OptimisticLayer { (numbers: inout [Int]) in numbers = numbers.map { $0 &* 31 &+ value } }
        switch machine.beginWrite(hasLayer: hasLayer, isConcurrent: isConcurrent) {
        case .sends(let number), .waits(let number):
            layer.number = number
            if hasLayer { content.layers.append(layer) }
        case .tooManyLayers, .tooManyWrites: break
        }
    }

    private mutating func end(_ number: UInt64, _ end: ResourceMachine.WriteEnd, _ value: Int) {
        guard machine.endWrite(number, end).verdict != .nothing else { return }
        switch end {
        case .failed: _ = content.remove(number)
        case .outdated: _ = content.settle(number)
        case .content:
            _ = content.remove(number)
            content.server = set([100 + value])
        case .deleted:
            _ = content.remove(number)
            content.server = []
        }
    }
}

/// A plain record of all events: every invalidation, and every write with the facts that were known when it was sent.
private struct SpelledOutModel {
    enum Event {
        case beganLoad
        case endedLoad(UInt64, content: Int?)
        case override(Int)
        case invalidation
        case wipe
        case beganWrite(layer: Int?, isConcurrent: Bool)
        case sentWrite(UInt64)
        case endedWrite(UInt64, ResourceMachine.WriteEnd, Int)
    }

    var last: UInt64 = 0
    private var story = Story()

    // MARK: Events

    private struct Story {
        var server: [Int]?
        var layers: [(number: UInt64, value: Int)] = []
        var open: [(number: UInt64, isConcurrent: Bool, sent: UInt64, isDetached: Bool)] = []
        var loads: [UInt64] = []
        var committed: UInt64 = 0
        var invalidations: [UInt64] = []
    }

    /// Adds an event to the record. It has the number that was given out last.
    private mutating func note(_ event: Event) {
        switch event {
        case .beganLoad: story.loads.append(last)
        case .endedLoad(let number, let content):
            story.loads.removeAll { $0 == number }
            guard let content, number > story.committed else { return }
            story.committed = number
            story.invalidations.removeAll { $0 < number }
            story.server = [content]
        case .override(let value):
            story.committed = last
            story.invalidations = []
            story.server = [value]
        case .invalidation: story.invalidations.append(last)
        case .wipe:
            story.committed = last
            story.invalidations = []
            story.server = nil
            story.layers = []
            story.loads = []
            for index in story.open.indices { story.open[index].isDetached = true }
        case .beganWrite(let layer, let isConcurrent):
            if let layer { story.layers.append((last, layer)) }
            story.open.append((last, isConcurrent, 0, false))
        case .sentWrite(let number):
            for index in story.open.indices where story.open[index].number == number {
                story.open[index].sent = last
            }
        case .endedWrite(let number, let end, let value): noteEnd(number, end, value)
        }
    }

    private mutating func noteEnd(_ number: UInt64, _ end: ResourceMachine.WriteEnd, _ value: Int) {
        guard let write = story.open.first(where: { $0.number == number }) else { return }
        story.open.removeAll { $0.number == number }
        guard !write.isDetached else { return }
        let layer = story.layers.first { $0.number == number }
        story.layers.removeAll { $0.number == number }
        switch end {
        case .failed: break
        case .outdated:
            if let layer {
                story.server = story.server.map { $0.map { $0 &* 31 &+ layer.value } }
                story.committed = last
            }
            story.invalidations.append(last)
        case .content(let isFresh):
            story.server = [100 + value]
            story.invalidations.removeAll { $0 < write.sent }
            if !isFresh || story.committed > write.sent { story.invalidations.append(last) }
            story.committed = last
        case .deleted:
            story.server = nil
            story.committed = last
            story.invalidations = []
            story.loads = []
        }
    }

    var view: LayeredView {
        var shown = story.server
        for layer in story.layers { shown = shown.map { $0.map { $0 &* 31 &+ layer.value } } }
        let joinable = story.loads.last.flatMap { load in
            load > story.committed && story.invalidations.allSatisfy { $0 < load } ? load : nil
        }
        return LayeredView(
            shown: shown, server: story.server, layers: story.layers.count, isInvalid: !story.invalidations.isEmpty,
            running: story.open.filter { $0.sent > 0 }.map(\.number), loads: story.loads, joinable: joinable)
    }

    // MARK: Actions

    mutating func perform(_ action: Int, _ choice: Int, _ value: Int) {
        let running = story.open.filter { $0.sent > 0 }.map(\.number)
        let write = running.isEmpty ? nil : running[choice % running.count]
        let load = story.loads.isEmpty ? nil : story.loads[choice % story.loads.count]
        switch action {
        case 0, 1, 2: begin(hasLayer: choice > 12, isConcurrent: value > 6, value)
        case 3: add(.beganLoad)
        case 4, 5: if let load { note(.endedLoad(load, content: value)) }
        case 6: add(.override(-value))
        case 7: add(.invalidation)
        case 8 where choice == 0: add(.wipe)
        case 8: if let load { note(.endedLoad(load, content: nil)) }
        case 9:
            if !story.open.isEmpty { end(story.open[choice % story.open.count].number, .failed, value) }
        case 10, 11: if let write { end(write, .failed, value) }
        case 12: if let write { end(write, .outdated, value) }
        case 13: if let write { end(write, .content(isFresh: true), value) }
        case 14: if let write { end(write, .content(isFresh: false), value) }
        default: if let write { end(write, choice < 32 ? .outdated : .deleted, value) }
        }
    }

    private mutating func begin(hasLayer: Bool, isConcurrent: Bool, _ value: Int) {
        if hasLayer, story.layers.count == 64 { return }
        let isFirst = isConcurrent || story.open.allSatisfy(\.isConcurrent)
        if !isFirst, story.open.count(where: { $0.sent == 0 }) == 256 { return }
        add(.beganWrite(layer: hasLayer ? value : nil, isConcurrent: isConcurrent))
        if isFirst { note(.sentWrite(last)) }
    }

    private mutating func end(_ number: UInt64, _ end: ResourceMachine.WriteEnd, _ value: Int) {
        let isDetached = story.open.contains { $0.number == number && $0.isDetached }
        // A success takes the next number.
        if end == .failed || isDetached {
            note(.endedWrite(number, end, value))
        } else {
            add(.endedWrite(number, end, value))
        }
        if let next = story.open.first(where: { !$0.isConcurrent }), next.sent == 0 { add(.sentWrite(next.number)) }
    }

    /// Adds an event that takes the next number.
    private mutating func add(_ event: Event) {
        last += 1
        note(event)
    }
}
