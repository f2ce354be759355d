/** Why a sign-in came to nothing. Its message is fit for a person once it is redacted. */
export class SignInFailure extends Error {
  override readonly name = 'SignInFailure';
}
