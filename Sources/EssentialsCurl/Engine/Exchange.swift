import EssentialsHTTP
import Synchronization

/// One request on its way through the engine.
final class Exchange: @unchecked Sendable {
    // Argument for @unchecked: `prepared`, `upload` and `body` are constant; `isCancelled` is atomic. `continuation` is
    // set before the exchange is posted to the engine. Everything under "engine thread" is used by that thread alone,
    // except `outcome`, which it writes before it resumes the continuation and the awaiting task reads afterwards.
    let prepared: PreparedRequest
    let upload: UploadPump?
    let body: BodyPipe?
    let isCancelled = Atomic<Bool>(false)
    var continuation: CheckedContinuation<Void, Never>?

    // MARK: Engine thread

    var outcome: Result<TransportResponse, RequestFailure>?
    var transfer: OpaquePointer?
    var slot = -1
    var isPaused = false
    var triedFreshConnection = false

    init(prepared: PreparedRequest, upload: UploadPump?, body: BodyPipe?) {
        self.prepared = prepared
        self.upload = upload
        self.body = body
    }
}
