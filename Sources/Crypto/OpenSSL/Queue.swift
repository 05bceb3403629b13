import COpenSSL

// How the owners of OpenSSL's objects are used: each is bound to a `let` and its `pointer` is read in the
// call that needs it. A pointer read off a temporary, or kept in a variable of its own, would outlive
// the object.

/// OpenSSL's error queue of this thread.
///
/// The queue outlives the call that filled it, so a stale entry would be blamed on a later call:
/// every failure empties it, also those that are an ordinary answer (a signature that does not fit).
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// Empties the queue into an error that names `call` and the oldest reason found.
    static func drain(_ call: StaticString) -> CryptoError {
        let first = ERR_get_error()
        ERR_clear_error()
        guard first != 0, let text = ERR_reason_error_string(first) else {
            return .openSSL(call: "\(call)", reason: "no reason given")
        }
        return .openSSL(call: "\(call)", reason: String(cString: text))
    }
}

/// Throws what OpenSSL queued unless `result` is 1, its only word for success.
@inline(__always)
func check(_ result: Int32, _ call: StaticString) throws(CryptoError) {
    guard result == 1 else { throw ErrorQueue.drain(call) }
}

/// Unwraps what OpenSSL made, or throws what it queued instead.
@inline(__always)
func check<Pointer>(_ pointer: Pointer?, _ call: StaticString) throws(CryptoError) -> Pointer {
    guard let pointer else { throw ErrorQueue.drain(call) }
    return pointer
}

/// Stops the program unless `result` is 1: for calls that fail only without memory or without the
/// default provider, when nothing this program does could be trusted any more.
@inline(__always)
func require(_ result: Int32, _ call: StaticString) {
    guard result == 1 else { preconditionFailure(ErrorQueue.drain(call).description) }
}

/// Unwraps what only a broken installation or a lack of memory would deny; stops the program otherwise.
@inline(__always)
func require<Pointer>(_ pointer: Pointer?, _ call: StaticString) -> Pointer {
    guard let pointer else { preconditionFailure(ErrorQueue.drain(call).description) }
    return pointer
}
