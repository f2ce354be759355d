/**
 * Implements *Show Files of This Chat* for an instance that a chat holds: lists the files that its calls left on disk (V2),
 * whichever agent made them.
 */
import * as vscode from 'vscode';
import { basename, dirname, extname } from 'node:path';
import { Icon, inert } from '../../core/base/inert.js';
import { window } from '../views/inertEditor.js';
import type { Disposable } from '../../core/base/disposables.js';
import { timeOfArtifact } from '../../core/results/artifactName.js';
import type { EngineSlot } from '../engine/engineSlot.js';
import { timeOf } from '../views/phrases.js';
import { nodeOf, type Subject } from '../views/rows/subject.js';
import type { ArtifactLinks } from './artifactLinks.js';

export function registerShownFiles(slot: EngineSlot, artifacts: ArtifactLinks): Disposable {
  return vscode.commands.registerCommand('mcpToolsets.showConversationFiles', async (subject: Subject) => {
    const conversation = nodeOf(subject)?.conversation;
    const files = conversation === undefined ? [] : ((await slot.engine?.conversationTools.files(conversation)) ?? []);
    if (files.length === 0) {
      void window.showInformationMessage(inert`No files of this conversation are kept.`);
      return;
    }
    const choice = await window.showQuickPick(
      files.toReversed().map(({ path, isImage }) => ({
        label: inert`${new Icon(isImage ? 'file-media' : 'file')} ${basename(dirname(path))}${extname(path)}`,
        description: inert`${timeOf(timeOfArtifact(basename(path)), Date.now())}`,
        path,
      })),
      { placeHolder: inert`Choose a file of this conversation (latest first)` },
    );
    if (!choice) return;
    await vscode.commands.executeCommand('vscode.open', artifacts.uriOf(choice.path, basename(dirname(choice.path))));
  });
}
