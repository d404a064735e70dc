import Synchronization

extension HTTPDataRequestService {
    /// Ends the service and its transport. New requests fail as `closed`. Requests that run have the grace period to
    /// finish if they or the configuration say `finishesOnShutdown`; the others end as `cancelled`.
    ///
    /// Returns when all connections are closed; those who wait for a request get its end at about the same time. Further
    /// calls do the same and harm nothing.
    ///
    /// - Parameter grace: How long marked requests may take; a streamed body counts until it was read.
    public func shutdown(grace: Duration = .zero) async {
        watch.withLock { $0.take() }?.cancel()
        inFlight.close()
        inFlight.cancelAll(includingThoseThatFinish: grace <= .zero)
        if grace > .zero {
            await withTaskGroup { group in
                group.addTask { [inFlight] in await inFlight.waitUntilEmpty() }
                // Some seventy years: the system's clock does not take all that a duration can be.
                group.addTask { try? await Task.sleep(for: min(grace, .seconds(1 << 31))) }
                await group.next()
                group.cancelAll()
            }
            inFlight.cancelAll(includingThoseThatFinish: true)
        }
        await transport.shutdown()
    }
}
