import COpenSSL

/// OpenSSL's reasons in our error.
enum TLSFailure {
    static func error(_ reason: String) -> TransportError { .tls(reason: reason) }

    /// The error of a session that has just failed: a refused certificate is named by the check it failed.
    static func error(of ssl: OpaquePointer) -> TransportError {
        let queued = queuedReason()
        let verdict = SSL_get_verify_result(ssl)
        guard verdict != Int(X509_V_OK) else { return error(queued) }
        return error("certificate verify failed: \(String(cString: X509_verify_cert_error_string(verdict)))")
    }

    /// The first reason in this thread's error queue, which is emptied.
    static func queuedReason() -> String {
        var first: String?
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if first == nil, let text = ERR_reason_error_string(code) { first = String(cString: text) }
        }
        return first ?? "unknown reason"
    }
}
