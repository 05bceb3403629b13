public import HTTP
public import JOSE

/// Where a person says assertions come from.
public enum ClientAssertionSource: Sendable {
    /// A private key, and the `kid` it is registered under: its own, or its thumbprint.
    case key(SigningKeyFile)
    /// A command for `/bin/sh -c`.
    case command(String)
    /// An HTTP backend; the host must be one the phone may talk to.
    case backend(HTTPURL)
    /// A provider of the program's own.
    case provider(any ClientAssertionProvider)
}

extension ClientAssertionSource {
    /// The provider that answers from this source.
    ///
    /// Throws `.hostNotAllowed` or `.invalid` where the backend is one the phone may not talk to.
    func provider(in world: World) throws(EngineError) -> any ClientAssertionProvider {
        switch self {
        case .key(let file): return LocalKeyAssertions(file, clock: world.clock, draws: world.draws)
        case .command(let command): return CommandAssertions(command)
        case .backend(let url):
            if let objection = world.network.policy.objection(to: url) { throw objection }
            return BackendAssertions(url, network: world.network, timeoutMilliseconds: world.callTimeout)
        case .provider(let provider): return provider
        }
    }
}
