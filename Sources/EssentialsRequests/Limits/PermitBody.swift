import EssentialsHTTP
import EssentialsTools

/// A streamed body that has a permit of its origin until it was read or dropped.
final class PermitBody: ResponseBody.Source {
    private let source: any ResponseBody.Source
    private let limits: RequestLimits
    private let permit: Mutex<RequestLimits.Permit?>

    init(_ source: any ResponseBody.Source, _ permit: RequestLimits.Permit, _ limits: RequestLimits) {
        self.source = source
        self.limits = limits
        self.permit = Mutex(permit)
    }

    deinit { leave() }

    func next() async throws(RequestFailure) -> BodyChunk? {
        do throws(RequestFailure) {
            if let chunk = try await source.next() { return chunk }
        } catch {
            leave()
            throw error
        }
        leave()
        return nil
    }

    func cancel() {
        source.cancel()
        leave()
    }

    func abandon() {
        source.abandon()
        leave()
    }

    var ending: ResponseEnding? { source.ending }

    private func leave() {
        guard let permit = permit.withLock({ $0.take() }) else { return }
        limits.leave(permit)
    }
}
